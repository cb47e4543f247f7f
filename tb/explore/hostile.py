"""Sources that want more than they should have, and a secret that they are after."""

from pathlib import Path

SECRET = "fe5a3c71 the secret"
PASSWORDS = "/etc/passwd"
BODY = "\nkernel void f(vec2 pixel) { output(0, vec4(1)); }\n"
HEADER = "#include <ctm/kernel.h>\n"

# What is outside: {secret} is a file beside the kernel's folder, {link} a link to it inside.
INCLUDES = {
    "quoted": '#include "{secret}"',
    "system": "#include <{secret}>",
    "system file": f'#include "{PASSWORDS}"',
    "climbing": '#include "../secret.h"',
    "a link": '#include "{link}"',
    "a folder that is a link": '#include "out/secret.h"',
    "include_next": '#include_next "{secret}"',
    "import": '#import "{secret}"',
    "a macro": '#define FILE "{secret}"\n#include FILE',
    "spliced": '#inc\\\nlude "{secret}"',
    "a digraph": '%:include "{secret}"',
    "a comment": '#/**/include/**/"{secret}"',
    "embed": 'const char text[] = {{\n#embed "{secret}"\n}};',
    "embed of a device": 'const char text[] = {{\n#embed "/dev/urandom" limit(9)\n}};',
    "a process": '#include "/proc/self/environ"',
    "standard input": '#include "/dev/stdin"',
}
"""Reported as files that are not there."""
QUESTIONS = {
    "has_include": '#if __has_include("{secret}")\n#error it is there\n#endif',
    "has_include of the system": f'#if __has_include("{PASSWORDS}")\n#error it is there\n#endif',
    "has_include_next": '#if __has_include_next("{secret}")\n#error it is there\n#endif',
    "has_embed": '#if __has_embed("{secret}")\n#error it is there\n#endif',
    "has_include of a link": '#if __has_include("{link}")\n#error it is there\n#endif',
}
"""Each condition is false."""
OTHERS = {
    "dependency": '#pragma GCC dependency "{secret}"',
    "module": "#pragma clang module import secret",
    "operator": '_Pragma("GCC dependency \\"{secret}\\"")',
    "comment": '#pragma comment(lib, "{secret}")',
    "incbin at the top": 'asm(".incbin \\"{secret}\\"");',
    "line": '#line 1 "{secret}"\nint x = y;',
    "line marker": '# 1 "{secret}" 1 3 4\nint x = y;',
}
"""They say something or nothing, but not what the file holds."""


def folder(path: Path) -> Path:
    """A kernel's folder, beside a secret that links inside lead to."""
    inside = path / "kernels"
    inside.mkdir()
    (path / "secret.h").write_text(f"#error {SECRET}\n{SECRET}\n")
    (inside / "link.h").symlink_to(path / "secret.h")
    (inside / "out").symlink_to(path)
    (inside / "own.h").write_text("#define ONE 1.0f\n")
    (inside / "own_link.h").symlink_to(inside / "own.h")
    return inside


def source(text: str, inside: Path) -> str:
    """A hostile line in a kernel."""
    line = text.format(secret=inside.parent / "secret.h", link="link.h")
    return f"{HEADER}{line}{BODY}"
