// The file tools' helper programs: POSIX sh with find, grep, head, tail, wc, cmp and mktemp. Each runs like a command of the turn, behind
// the same wall, so the kernel decides what a path reaches, through any links. Paths and patterns are positional arguments, never read as
// code. New text comes by standard input.

/** A file up to this size is sent whole; of a larger one, the requested lines. */
export const WHOLE_BYTES = 512 * 1024;
/** The start of a larger file, sent first: enough to detect its encoding. */
export const SAMPLE_BYTES = 4096;

/** Answers start with a line: `ok ...` with facts, or `no` and the reason. */
const ANSWERS = `
no() { printf 'no %s\\n' "$1"; exit 0; }
last() { printf '%s' "$1" | tail -n 1 | sed 's/.*: //'; }
why() { LC_ALL=C "$@" 2>&1 >/dev/null | tail -n 1 | sed 's/.*: //'; }
`;

/** Must be a regular file, or a visible link to one. Opening a pipe or device could block forever. */
const IS_FILE = `
[ -d "$p" ] && no 'it is a folder; use list_files'
if [ ! -f "$p" ]; then
	[ -e "$p" ] && no 'it is not a regular file'
	[ -L "$p" ] && no 'it is a link to something that is not there, or that the wall hides'
	no "$(why ls -d "$p")"
fi
[ -r "$p" ] || no 'Permission denied'
`;

/** path, first line, number of lines, number of bytes. */
export const READ = `${ANSWERS}
p=$1
${IS_FILE}
size=$(wc -c <"$p") || no 'it cannot be read'
size=$((size))
if [ "$size" -le ${WHOLE_BYTES} ]; then
	printf 'ok whole %d\\n' "$size"
	exec cat <"$p"
fi
lines=$(wc -l <"$p")
printf 'ok part %d %d\\n' "$size" "$((lines))"
head -c ${SAMPLE_BYTES} <"$p"
tail -n "+$2" <"$p" | head -n "$3" | head -c "$4"
`;

/**
 * path, then `edit` or `write`, then an edit's maximum size. An edit first prints the current text. New text follows a line with its
 * length, so truncated text is never written, and the end of input alone changes nothing. An existing file keeps its mode and is replaced
 * atomically; through a link, or if the folder does not allow it, it is written in place. Its old text is kept until then, and put back
 * on failure.
 */
export const PUT = `${ANSWERS}
p=$1
[ -d "$p" ] && no 'it is a folder'
[ -e "$p" ] && [ ! -f "$p" ] && no 'it is not a regular file'
own=$(mktemp -d 2>/dev/null) || no 'no temporary folder can be made'
beside=
midway=
put_back() { midway=; (cat "$own/old" >"$p") 2>/dev/null || cmp -s "$own/old" "$p"; }
trap '[ -z "$midway" ] || put_back; rm -rf "$own"; [ -z "$beside" ] || rm -f "$beside"' EXIT
trap 'exit 1' HUP INT TERM
if [ "$2" = edit ]; then
	${IS_FILE}
	size=$(wc -c <"$p")
	[ "$((size))" -le "$3" ] || no "it has $((size)) bytes, and at most $3 can be edited"
	cp "$p" "$own/old" 2>/dev/null || no "$(why cp "$p" "$own/old")"
	size=$(wc -c <"$own/old")
	printf 'ok %d\\n' "$((size))"
	cat "$own/old"
else
	printf 'ok 0\\n'
fi
read -r size || exit 0
cat >"$own/new" || no 'the new text cannot be kept'
arrived=$(wc -c <"$own/new")
[ "$((arrived))" -eq "$size" ] || no 'only a part of the new text arrived'
folder=\${p%/*}
[ -n "$folder" ] || folder=/
[ "$2" = edit ] || [ -d "$folder" ] || mkdir -p "$folder" 2>/dev/null || no "$(why mkdir -p "$folder")"
unchanged() { [ "$2" != edit ] || cmp -s "$1" "$own/old" || no 'it changed meanwhile; read it again'; }
in_place() {
	unchanged "$p" "$1"
	if [ -e "$p" ]; then
		error=$( (: >>"$p") 2>&1) || no "$(last "$error")"
		[ "$1" = edit ] || error=$(LC_ALL=C cp "$p" "$own/old" 2>&1) || no "its old text cannot be kept meanwhile: $(last "$error")"
		midway=yes
	fi
	if error=$( (cat "$own/new" >"$p") 2>&1); then midway=; return; fi
	[ -z "$midway" ] || put_back || no "$(last "$error"); the file is damaged now, since the old text could not be put back"
	no "$(last "$error")"
}
how=created
[ -e "$p" ] && how=replaced
if [ -L "$p" ] || { [ -e "$p" ] && [ ! -w "$folder" ]; }; then
	in_place "$2"
else
	beside=$folder/.keryx-$$.tmp
	if [ -e "$p" ]; then
		[ -w "$p" ] || no "$( (: >>"$p") 2>&1 | tail -n 1 | sed 's/.*: //')"
		cp -p "$p" "$beside" 2>/dev/null || no "$(why cp -p "$p" "$beside")"
	fi
	error=$( (cat "$own/new" >"$beside") 2>&1) || no "$(last "$error")"
	unchanged "$p" "$2"
	if mv -f "$beside" "$p" 2>/dev/null; then beside=; else in_place "$2"; fi
fi
printf 'ok %s\\n' "$how"
`;

/** Folders with generated content are searched only if a call names one. */
const SKIPPED = "-type d \\( -name .git -o -name node_modules \\) -prune";

/** path, depth, a pattern for the name, the most bytes. Each entry: kind, size and path, then where a link leads; each ends with NUL. */
export const LIST = `${ANSWERS}
p=$1
if [ ! -d "$p" ]; then
	[ -e "$p" ] && no 'it is not a folder; use read_file'
	[ -L "$p" ] && no 'it is a link to something that is not there, or that the wall hides'
	no "$(why ls -d "$p")"
fi
[ -r "$p" ] && [ -x "$p" ] || no 'Permission denied'
printf 'ok\\n'
if find /dev/null -printf '' 2>/dev/null; then
	find -H "$p" -mindepth 1 -maxdepth "$2" \\( -name "$3" -printf '%y %s %p\\000%l\\000' -o -name '*' \\) ${SKIPPED}
else
	find -H "$p" -mindepth 1 -maxdepth "$2" \\( -name "$3" \\( -type d -exec printf 'd - %s\\000\\000' {} + \\
		-o -type l -exec printf 'l - %s\\000\\000' {} + -o -exec printf 'f - %s\\000\\000' {} + \\) -o -name '*' \\) ${SKIPPED}
fi 2>/dev/null | head -c "$4"
`;

/** path, pattern, a pattern for the name, options of grep (words), the most bytes. */
export const FIND = `${ANSWERS}
LC_ALL=C; export LC_ALL
p=$1
if [ ! -e "$p" ]; then
	[ -L "$p" ] && no 'it is a link to something that is not there, or that the wall hides'
	no "$(why ls -d "$p")"
fi
[ -r "$p" ] || no 'Permission denied'
options=$4
error=$(grep $options -e "$2" /dev/null 2>&1)
[ "$?" -lt 2 ] || no "$(printf '%s' "$error" | tail -n 1)"
for option in -I --null; do
	grep $option -e x /dev/null >/dev/null 2>&1
	[ "$?" -lt 2 ] && options="$options $option"
done
[ -d "$p" ] && p=$p/.
printf 'ok\\n'
find "$p" ${SKIPPED} -o -type f -name "$3" -exec grep -Hn $options -e "$2" {} + 2>/dev/null | head -c "$5"
`;
