"""smfparse completion: tab completion for a shell."""

from __future__ import annotations

import click

from smfparse.cli.options import lines_output_options
from smfparse.cli.output import Output

_VARIABLE = "_SMFPARSE_COMPLETE"
"""What the shell sets when it asks; click derives the name from that of the program."""


@click.command("completion", short_help="Print a tab-completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@lines_output_options
@click.pass_context
def command(context: click.Context, /, shell: str, output: Output) -> None:
    """Print a tab-completion script for SHELL: commands, options, reports and files.

    \b
    Example:
      eval "$(smfparse completion bash)"        in ~/.bashrc
      eval "$(smfparse completion zsh)"         in ~/.zshrc
      smfparse completion fish --output ~/.config/fish/completions/smfparse.fish
    """
    from click.shell_completion import get_completion_class

    group = context.find_root().command
    found = get_completion_class(shell)
    assert found is not None
    made = found(group, {}, "smfparse", _VARIABLE)
    output.write_lines((made.source_template % made.source_vars()).strip("\n").split("\n"))
