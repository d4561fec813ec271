"""What servers may play with: a folder with a file of each kind, a repository, a page."""

import subprocess
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

PAGE = b"<html><head><title>A page</title></head><body><h1>A page</h1><p>No more.</p></body></html>"
NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")


def playground(folder: Path) -> Path:
    """The folder, made within another one."""
    made = folder / "playground"
    made.mkdir()
    (made / "note.txt").write_text("a note for the test")
    (made / "long.txt").write_text("".join(f"line {number}\n" for number in range(8_000)))
    (made / "tidy.js").write_text("const a = 1;\n")
    (made / "eslint.config.js").write_text("module.exports = [];\n")
    (made / "paper.pdf").write_bytes(pdf("a paper for the test"))
    write_workbook(made / "book.xlsx")
    subprocess.run(["git", "init", "-q", str(made)], check=True)  # noqa: S603, S607 - a folder of ours
    return made


def repository(folder: Path) -> Path:
    """A repository with one commit, within a folder."""
    made = folder / "repository"
    git = ["git", "-C", str(made), *NOBODY]
    made.mkdir()
    (made / "read.me").write_text("read me\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *words], check=True)  # noqa: S603 - a folder of ours
    return made


def pdf(text: str) -> bytes:
    """A document of one page with this text, of plain letters, on it."""
    drawn = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET"
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"{page} /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        font,
    ]
    out, offsets = "%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size, start = len(objects) + 1, len(out)
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    out += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return out.encode("ascii")


def write_workbook(file: Path) -> None:
    """A workbook whose one sheet has one cell."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="sheet1.xml"/></Relationships>',
        "xl/sheet1.xml": f'<worksheet xmlns="{main}"><dimension ref="A1"/><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>a cell</t></is></c></row></sheetData></worksheet>',
    }
    with zipfile.ZipFile(file, "w") as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE if found else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
        """Say nothing."""


@contextmanager
def web_page() -> Generator[str]:
    """The address of a page on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/page"
        server.shutdown()
