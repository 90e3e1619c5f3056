"""`python -m smfparse`: the command, for use if `smfparse` is not on the PATH."""

from smfparse.cli import command_line

if __name__ == "__main__":
    command_line()
