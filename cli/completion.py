"""smfparse completion: tab completion for a shell."""

from __future__ import annotations

import os
from pathlib import Path

import click

from smfparse.cli.options import lines_output_options
from smfparse.cli.output import Output

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_SMFPARSE_COMPLETE"
"""Variable that the shell sets for completion; click derives it from the program name."""


def _how(shell: str) -> str:
    """Return the instruction to activate completion in a shell, or in all shells."""
    lines = {
        "bash": 'add to ~/.bashrc: eval "$(smfparse completion bash)"',
        "zsh": 'add to ~/.zshrc: eval "$(smfparse completion zsh)"',
        "fish": "run: smfparse completion fish --output ~/.config/fish/completions/smfparse.fish",
    }
    known = lines.get(shell)
    ways = [known] if known else [f"for {name}, {line}" for name, line in lines.items()]
    return f"Missing argument 'SHELL'; {'; '.join(ways)}"


@click.command("completion", short_help="Print a tab-completion script for a shell.")
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@lines_output_options
@click.pass_context
def command(context: click.Context, /, shell: str | None, output: Output) -> None:
    """Print a tab-completion script for SHELL: commands, options, reports and files.

    \b
    Example:
      eval "$(smfparse completion bash)"        in ~/.bashrc
      eval "$(smfparse completion zsh)"         in ~/.zshrc
      smfparse completion fish --output ~/.config/fish/completions/smfparse.fish
    """
    if shell is None:
        raise click.UsageError(_how(Path(os.environ.get("SHELL", "")).name))
    from click.shell_completion import get_completion_class

    group = context.find_root().command
    found = get_completion_class(shell)
    assert found is not None
    made = found(group, {}, "smfparse", _VARIABLE)
    output.write_lines((made.source_template % made.source_vars()).strip("\n").split("\n"))
