"""A formula for Homebrew, which installs the archive of the system."""

from release import DESCRIPTION, HERE, REPOSITORY, VERSION

SYSTEMS = {"darwin": "macos", "linux": "linux"}
PROCESSORS = {"x86_64": "intel", "aarch64": "arm"}


def write(programs, folder):
    installable = [
        program
        for program in programs
        if program.os in SYSTEMS and program.processor in PROCESSORS and not program.is_musl
    ]
    values = {
        "description": DESCRIPTION,
        "homepage": REPOSITORY or folder.as_uri(),
        "version": VERSION,
        "sources": "\n".join(source(program) for program in installable),
    }
    text = (HERE / "storemark.rb").read_text()
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    path = folder / "storemark.rb"
    path.write_text(text)
    return path


def source(program):
    return f"""
  on_{SYSTEMS[program.os]} do
    on_{PROCESSORS[program.processor]} do
      url "{program.url()}"
      sha256 "{program.checksum()}"
    end
  end"""
