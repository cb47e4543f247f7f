"""Source files as a program's line table names them, and as an editor does."""

from pathlib import Path
from typing import Any

from ctm.sim.debug.code import Code
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session


class Sources:
    """Those of a job; `folders` are where files may be that have a bare name, or one from a folder on."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._without_path: list[tuple[str, str]] = []
        """Names and texts of sources that an editor has to ask for."""

    def described(self, code: Code, file: str) -> dict[str, Any]:
        """A source for an editor: by its path, or by a number with which it requests the text."""
        path = self._path(file)
        if path is not None:
            return {"name": Path(file).name, "path": str(path)}
        text = code.files.get(file)
        if text is None:
            return {"name": file, "presentationHint": "deemphasize"}
        if (file, text) not in self._without_path:
            self._without_path.append((file, text))
        return {"name": file, "sourceReference": self._without_path.index((file, text)) + 1}

    def text(self, reference: int) -> str:
        """The text of a source by its number; DebugError: there is none."""
        if not 1 <= reference <= len(self._without_path):
            raise DebugError(f"there is no source {reference}")
        return self._without_path[reference - 1][1]

    def file(self, session: Session, source: dict[str, Any]) -> str:
        """The name that the program which runs, or another one of the job, has for a source; DebugError: none has."""
        code = session.code
        lines = code.executable.lines
        files: dict[str, None] = dict.fromkeys((*(() if lines is None else lines.files), *session.lines))
        path, reference = source.get("path"), source.get("sourceReference")
        for file in files:
            own = self._path(file)
            if own is not None and isinstance(path, str) and own == Path(path).resolve():
                return file
            if isinstance(reference, int) and 0 < reference <= len(self._without_path):
                if self._without_path[reference - 1][0] == file:
                    return file
        raise DebugError(f"the program that runs, {code.name}, has no code of {path or source.get('name')}")

    def _path(self, file: str) -> Path | None:
        paths = (
            Path(file),
            *(folder / file for folder in self._folders),
            *(f / Path(file).name for f in self._folders),
        )
        return next((path.resolve() for path in paths if path.is_file()), None)
