#!/usr/bin/env python3
"""Writes the YAML files given as arguments into a C table: embed.py OUT.c FILE..."""

import os
import sys


def c_lines(text):
    for line in text.split(b"\n"):
        out = []
        for byte in line + b"\n":
            char = chr(byte)
            if char in '"\\':
                out.append("\\" + char)
            elif char == "\n":
                out.append("\\n")
            elif 32 <= byte < 127 and char != "?":
                out.append(char)
            else:
                out.append("\\%03o" % byte)
        yield '\t"' + "".join(out) + '"'


def main(out_path, paths):
    with open(out_path, "w", encoding="ascii") as out:
        out.write('/* Made from the YAML files of this folder. */\n#include "api/embedded.h"\n\n')
        out.write("const struct embedded_file embedded_files[] = {\n")
        for path in sorted(paths, key=os.path.basename):
            with open(path, "rb") as file:
                text = file.read().rstrip(b"\n")
            size = len(text) + 1
            out.write('{"%s", %d,\n%s},\n' % (os.path.basename(path), size, "\n".join(c_lines(text))))
        out.write("};\n\nconst size_t embedded_files_count = %d;\n" % len(paths))


main(sys.argv[1], sys.argv[2:])
