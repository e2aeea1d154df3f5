// The arguments of well-known programs: files that they read, list or write, or plain text. Tables only.

/**
 * How the operands are used: read, written, only listed, copied (the last one is written), moved (the others go away), or no files
 * at all.
 */
type Use = "read" | "write" | "list" | "copy" | "move" | "text";

export interface FileProgram {
	readonly operands: Use;
	/** This many operands come before the files: a pattern, a program, a mode. */
	readonly skip: number;
	/** Options that replace those operands. */
	readonly instead: ReadonlySet<string>;
	/** Options whose value is text, a file to read, or a file to write. */
	readonly text: ReadonlySet<string>;
	readonly reads: ReadonlySet<string>;
	readonly writes: ReadonlySet<string>;
	/** All of these, for reading the words. */
	readonly takesValue: ReadonlySet<string>;
}

interface Row {
	readonly use: Use;
	readonly names: string;
	readonly skip?: number;
	readonly instead?: string;
	readonly text?: string;
	readonly reads?: string;
	readonly writes?: string;
}

const GREP =
	"-A -B -C -m -d -D --color --colour --include --exclude --exclude-dir --label --max-count --context --binary-files -e --regexp";
const ROWS: readonly Row[] = [
	// Text in, text out.
	{
		use: "read",
		names:
			"cat tac rev zcat bzcat xzcat zstdcat md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum",
	},
	{ use: "read", names: "head tail ghead gtail", text: "-n -c -s --lines --bytes --pid --sleep-interval" },
	{
		use: "read",
		names: "less more most bat batcat view pr",
		text: "-l -r -H --language --theme --style --line-range --tabs",
		writes: "-o -O --log-file --LOG-FILE",
	},
	{ use: "read", names: "nl", text: "-b -d -f -h -i -l -n -s -v -w" },
	{ use: "read", names: "od", text: "-A -t -j -N -S -w" },
	{ use: "read", names: "hexdump hd", text: "-e -n -s", reads: "-f" },
	{ use: "read", names: "strings", text: "-n -t -e" },
	{ use: "read", names: "wc", reads: "--files0-from" },
	{
		use: "read",
		names: "sort gsort",
		text: "-k -t -S --key --field-separator --parallel --buffer-size",
		reads: "--files0-from",
		writes: "-o --output -T --temporary-directory",
	},
	{ use: "copy", names: "uniq xxd", text: "-f -s -w -c -l -g -o -n" },
	{ use: "read", names: "cut", text: "-d -f -c -b --delimiter --fields --output-delimiter" },
	{ use: "read", names: "paste", text: "-d --delimiters" },
	{ use: "read", names: "join", text: "-t -1 -2 -j -o -a -e -v" },
	{ use: "read", names: "comm cmp", text: "-n -i --output-delimiter" },
	{
		use: "read",
		names: "diff colordiff sdiff diff3",
		text: "-U -C -I -x -L -W --label --color --exclude --width --ignore-matching-lines",
	},
	{
		use: "read",
		names: "fold fmt column expand unexpand",
		text: "-w -s -t -c -o -N -H -p --width --separator --table-columns",
	},
	{ use: "read", names: "base64 base32 shasum", text: "-w -b -a --wrap" },
	{ use: "read", names: "iconv", text: "-f -t --from-code --to-code", writes: "-o --output" },
	{
		use: "read",
		names: "grep egrep fgrep zgrep ggrep",
		skip: 1,
		instead: "-e --regexp -f --file",
		text: GREP,
		reads: "-f --file",
	},
	{
		use: "read",
		names: "rg ag ack ugrep",
		skip: 1,
		instead: "-e --regexp -f --file --files",
		text: `${GREP} -g --glob --iglob -t -T --type --type-not --type-add -M -j -r --replace --sort --sortr --max-depth --threads --engine --max-columns --max-filesize -E --encoding`,
		reads: "-f --file --ignore-file",
	},
	{
		use: "read",
		names: "jq gojq",
		skip: 1,
		instead: "-f --from-file",
		text: "--arg --argjson --indent --args --jsonargs",
		reads: "-f --from-file --slurpfile --rawfile -L",
	},
	{
		use: "read",
		names: "yq",
		skip: 1,
		text: "-o -p -I --output-format --input-format --indent",
		reads: "--from-file",
	},
	{
		use: "read",
		names: "split",
		text: "-l -b -n -a -C --lines --bytes --number --suffix-length --additional-suffix",
	},
	{ use: "read", names: "xmllint tidy", text: "--xpath --encode", writes: "--output -o" },
	{ use: "read", names: "look", skip: 1 },
	{
		use: "text",
		names: "tr echo printf seq expr basename dirname sleep true false kill which type command export",
	},
	{ use: "text", names: "date", text: "-d --date", reads: "-f --file -r --reference" },
	// Only names and facts about files.
	{
		use: "list",
		names: "ls dir vdir",
		text: "-I -w -T --ignore --hide --width --tabsize --color --time-style --sort --time --format --block-size",
	},
	{ use: "list", names: "stat gstat", text: "-c -f -t --format --printf" },
	{ use: "list", names: "du df", text: "-d -t -x -B --max-depth --exclude --block-size --threshold --type" },
	{ use: "list", names: "tree", text: "-L -P -I -H -T --filelimit --charset --timefmt --sort", writes: "-o" },
	{ use: "list", names: "file", text: "-F -P -e", reads: "-f -m" },
	{
		use: "list",
		names: "realpath readlink cd pushd chdir mountpoint",
		text: "--relative-to --relative-base",
	},
	// They change the named files.
	{ use: "write", names: "tee sponge" },
	{ use: "write", names: "touch", text: "-d -t --date --time", reads: "-r --reference" },
	{ use: "write", names: "truncate fallocate", text: "-s -l -o --size --length", reads: "-r --reference" },
	{ use: "write", names: "mkdir mkfifo mknod", text: "-m --mode" },
	{ use: "write", names: "rm rmdir unlink grm zf_rm shred" },
	{ use: "write", names: "nano vim vi nvim emacs ed ex micro hx code subl", text: "-c --cmd -t -y --goto" },
	{
		use: "write",
		names: "script typescript",
		text: "-c -E -O --command",
		writes: "-B -I -T --log-io --log-in --log-timing",
	},
	{
		use: "write",
		names: "patch",
		text: "-p -F -D -V",
		reads: "-i --input",
		writes: "-d --directory -o --output -r",
	},
	{
		use: "write",
		names: "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli compress",
		text: "-S --suffix -T",
		writes: "-o",
	},
	{
		use: "copy",
		names: "cp gcp ginstall install",
		text: "-m -o -g -S --mode --owner --group --suffix --preserve",
		writes: "-t --target-directory",
	},
	{ use: "copy", names: "ln link", text: "-S --suffix", writes: "-t --target-directory" },
	{
		use: "copy",
		names: "rsync",
		text: "-f --exclude --include --filter --max-size --min-size --bwlimit --timeout --port --chmod --chown --out-format --info --debug --suffix --compress-level --block-size -e --rsh --rsync-path -M --remote-option -T",
		reads: "--exclude-from --include-from --files-from --password-file",
		writes: "--backup-dir --log-file --partial-dir --temp-dir --write-batch",
	},
	{ use: "copy", names: "scp ditto", text: "-P -c -l -o -J -S -D", reads: "-i -F" },
	{ use: "move", names: "mv gmv rename", text: "-S --suffix", writes: "-t --target-directory" },
	{ use: "write", names: "mktemp", text: "--suffix", writes: "-p --tmpdir" },
	{ use: "copy", names: "zip", text: "-x -i -n -P -s -t -tt", writes: "-b -O" },
	{ use: "read", names: "unzip", text: "-x -P", writes: "-d" },
	// The first operand is a program's text or file; the rest is what it gets.
	{ use: "read", names: "source ." },
];

export const FILE_PROGRAMS: ReadonlyMap<string, FileProgram> = new Map(
	ROWS.flatMap((row): [string, FileProgram][] => {
		const [instead, text, reads, writes] = [row.instead, row.text, row.reads, row.writes].map(
			(words) => new Set(words?.split(" ") ?? []),
		) as [Set<string>, Set<string>, Set<string>, Set<string>];
		const program: FileProgram = {
			operands: row.use,
			skip: row.skip ?? 0,
			instead,
			text,
			reads,
			writes,
			takesValue: new Set([...text, ...reads, ...writes]),
		};
		return row.names.split(" ").map((name) => [name, program]);
	}),
);
