"""The mechanical part of our style: pages, help and declared texts avoid the patterns of FAULTS."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import click

from smfparse.cli import main
from smfparse.planning.plans import planner, planner_names, wanted
from tests.support.paths import PROJECT

FAULTS = {
    "a clause with 'what' in place of a noun": r"\b[Ww]hat\b(?![^.?!]*\?)",
    "software that tells": r"\b(?:tells?|told)\b",
    "'there is' behind a noun": r"\bthat there (?:is|are)\b|\b(?:is|are) there\b(?![^.?!]*\?)",
    "a rate without 'per'": r"(?:\b\d[\d,]*(?:\.\d+)?|\b(?:messages|seconds|bytes|[MKG]B|us)) "
    r"an? (?:second|minute|hour|day|week|copy|message|call|record|page|I/O|[MKG]B)\b",
    "'at the worst' for 'maximum'": r"\bat the worst\b",
    "'thought of' for 'assumed'": r"\bthought of\b",
    "'dear' for 'expensive'": r"\bdear(?:er)?\b",
    "'for want of' for 'without'": r"\bfor want of\b",
    "'strangers' for 'untrusted'": r"\bstrangers?\b",
    "'look at' for 'check'": r"\blook(?:s|ed|ing)? (?:at|into|whether)\b",
    "'behind' for 'after'": r"\bbehind\b",
    "'packed' for 'compressed'": r"\bpack(?:ed|ings?)\b",
    "'course' for 'sparkline' or 'chart'": r"\bcourses?\b",
    "a passive 'is said'": r"\b(?:is|are|was|were) said\b",
    "a blank in front of a per cent sign": r"\d %",
}
OTHER_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages besides those in docs/."""
EXCEPTIONS = ("packed date", "packed decimal")


def faults(text: str) -> Iterator[str]:
    """Yield the faults of a text, each with the words around it."""
    flat = " ".join(text.split())
    for each in EXCEPTIONS:
        flat = flat.replace(each, "")
    for fault, pattern in FAULTS.items():
        for found in re.finditer(pattern, flat):
            yield f"{fault}: ...{flat[max(found.start() - 40, 0) : found.end() + 40]}..."


def prose(page: str) -> str:
    """Return the text of a page without code, generated parts, targets of links and comments."""
    code = r"<!-- generated.*?<!-- end -->|^```.*?^```$|<!--.*?-->"
    page = re.sub(code, " ", page, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", page)


def commands(group: click.Group, above: click.Context) -> Iterator[tuple[str, click.Command, str]]:
    """Yield the path of each command, it and its help, and those of its subcommands."""
    for name in group.list_commands(above):
        command = group.commands[name]
        with click.Context(command, info_name=name, parent=above) as context:
            yield context.command_path, command, command.get_help(context)
            if isinstance(command, click.Group):
                yield from commands(command, context)


def test_pages_are_in_plain_english() -> None:
    pages = [*map(PROJECT.joinpath, OTHER_PAGES), *sorted((PROJECT / "docs").glob("*.md"))]
    found = {
        page.relative_to(PROJECT).as_posix(): [*faults(prose(page.read_text("utf-8")))]
        for page in pages
    }
    assert {name: each for name, each in found.items() if each} == {}


def test_help_texts_are_in_plain_english_and_that_of_an_option_shows_its_action_or_value() -> None:
    nouns = ("A", "An", "The", "Only", "What", "How", "That", "By", "If", "Of", "Where")
    with click.Context(main, info_name="smfparse", **main.context_settings) as top:
        every = [("smfparse", main, main.get_help(top).split("Commands:")[0]), *commands(main, top)]
    assert len(every) > 30
    for path, command, text in every:
        assert [*faults(text)] == [], path
        for each in command.params:
            if isinstance(each, click.Option):
                assert each.help, (path, each.name)
                assert each.help.split()[0] not in nouns, each.help
                assert each.help[0].isupper(), each.help
                assert each.help.endswith("."), each.help


DECLARED = ("advice", "dashboard", "metrics", "reports", "simulating", "summarizing")
"""Packages whose declarations in TOML contain texts for users."""
TEXTS = {
    "do", "doc", "doubt", "expect", "heading", "label", "means", "not_if", "note", "nothing",
    "queue_mark", "story", "title",
}  # fmt: skip
"""The keys of these texts."""


def declared(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from declared(each, name)
    elif isinstance(value, str) and key in TEXTS:
        yield value


def test_texts_of_declarations_and_planners_are_in_plain_english() -> None:
    found = {}
    for package in DECLARED:
        files = sorted((PROJECT / "smfparse" / package).rglob("*.toml"))
        assert files, package
        for path in files:
            texts = declared(tomllib.loads(path.read_text("utf-8")))
            name = path.relative_to(PROJECT).as_posix()
            found[name] = [each for text in texts for each in faults(text)]
    for which in map(planner, planner_names()):
        inputs = (each.ask.text for each in wanted(which.asked))
        texts = (which.title, *which.sources, which.valid_range, *which.limitations, *inputs)
        found[which.name] = [each for text in texts for each in faults(text)]
    assert {name: each for name, each in found.items() if each} == {}
