// Scripts for the other machine: POSIX sh, awk and standard tools; nothing is installed. A process has a folder there until its end is
// known here: `run` and `start`, with its command and variables, are deleted once it runs; `state` records its start and end. An exact
// end needs a parent that can tell an exit from a signal: awk.
import { MARK } from "../members.ts";
import type { SpawnRequest } from "../types.ts";

/** Starts each line of `state`; output of the ssh client may be in between. */
export const TELLS = "keryx-process";

export function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns `ok <folder>`, or `no` and why the process cannot be started. */
export function prepareScript(request: SpawnRequest): string {
	const { id, argv, cwd, env } = request;
	const program = quoted(argv[0] as string);
	return `
no() { printf 'no %s\\n' "$1"; exit 0; }
is() { [ -f "$1" ] && [ -x "$1" ]; }
[ -e ${quoted(cwd)} ] || no ${quoted(`the directory ${cwd} does not exist there`)}
[ -d ${quoted(cwd)} ] || no ${quoted(`${cwd} is no directory there`)}
cd ${quoted(cwd)} 2>/dev/null || no ${quoted(`the directory ${cwd} may not be entered there`)}
umask 077
found=
case ${program} in
*/*) is ${program} && found=1 ;;
*)
	IFS=:; set -f
	path=${quoted(env.PATH ?? DEFAULT_PATH)}
	for folder in $path; do is "\${folder:-.}"/${program} && found=1; done
	unset IFS; set +f ;;
esac
[ "$found" ] || no ${quoted(`there is no program ${argv[0]} there`)}
folder=\${XDG_STATE_HOME:-$HOME/.local/state}/keryx/${id}
mkdir -p "$folder" 2>&1 || exit 0
{ : >"$folder/state" && printf %s ${quoted(RUN)} >"$folder/run" && printf %s ${quoted(startScript(request))} >"$folder/start"; } 2>&1 || exit 0
printf 'ok %s\\n' "$folder"`;
}

export function runCommand(folder: string): string {
	return `exec sh ${quoted(`${folder}/run`)}`;
}

export function stateScript(folder: string): string {
	return `cat ${quoted(`${folder}/state`)} 2>/dev/null`;
}

export function discardScript(folder: string): string {
	return `rm -rf ${quoted(folder)}`;
}

/** Prints `closed` when neither the process nor anything with its mark has its input open. Needs /proc. */
export function inputScript(id: string, pid: number, input: string): string {
	return `
for file in /proc/${pid}/environ $(grep -lzxF -e ${quoted(`${MARK}=${id}`)} /proc/[0-9]*/environ 2>/dev/null); do
	ls -l "\${file%/environ}/fd" 2>/dev/null
done | grep -qF -e ${quoted(input)} && echo open || echo closed`;
}

/** Rows and columns. */
export function sizeScript(terminal: string): string {
	return `stty size <${quoted(terminal)} 2>/dev/null`;
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const TELL = `tell() {
	printf '${TELLS} %s\\n' "$1" >>"$folder/state"
	[ -t 4 ] || printf '${TELLS} %s\\n' "$1" >&4
}`;

/**
 * The waiting parent. On pipes the program gets its own session. On a terminal it stays in the connection's: typed signals reach its
 * parent as well and must not end it; and the session leader, one level above, must end when the terminal hangs up, because only then the
 * kernel tells the program. A shell cannot tell exit 137 from SIGKILL; an awk that can is used if available.
 */
const RUN = `folder=\${0%/*}
exec 3>&1 4>&2 2>/dev/null
${TELL}
signals='INT QUIT USR1 USR2 ALRM TERM TSTP TTIN TTOU'
supervise() {
	exact=; first=
	awk 'BEGIN { s = system("kill -9 $$"); exit (s > 255 || s != int(s)) ? 0 : 1 }' </dev/null >/dev/null 2>&1 && exact=1
	if [ -t 4 ]; then
		if [ "$exact" ] && env --default-signal true 2>/dev/null; then
			first='env --default-signal'; trap '' HUP $signals
		else
			exact=; trap : HUP $signals
		fi
	elif command -v setsid >/dev/null; then
		first=setsid; trap : HUP
	else
		exact=; trap : HUP $signals
	fi
	KERYX_START=$folder/start
	KERYX_RUN="exec $first env -i PATH=\\"\\$PATH\\" sh \\"\\$KERYX_START\\" >&3 2>&3 3>&-"
	export KERYX_START KERYX_RUN
	if [ "$exact" ]; then
		how=$(awk 'BEGIN {
			s = system(ENVIRON["KERYX_RUN"])
			if (s != int(s)) print "signal", int(s * 256 + 0.5) % 128
			else if (s > 255) print "signal", s % 128
			else print "code", s
		}' 2>/dev/null)
	else
		sh -c "$KERYX_RUN"
		s=$?
		how="code $s"
		# Real-time signals end at 64.
		[ "$s" -le 128 ] || [ "$s" -gt 192 ] || how="signal $((s - 128))"
	fi
	rm -f "$folder/run" "$folder/start"
	case $how in
	signal*) n=\${how#signal }; s=$((128 + n)); how="signal $(kill -l "$n")" ;;
	code*) s=\${how#code } ;;
	*) exit 255 ;;
	esac
	tell "exit $how"
	exit "$s"
}
if [ -t 4 ]; then
	trap : $signals
	(supervise)
	exit
fi
supervise
`;

/** Becomes the program. Values of variables are never on a command line, except for names that a shell does not allow. */
function startScript({ id, argv, cwd, env }: SpawnRequest): string {
	const variables = Object.entries({ ...env, [MARK]: id });
	const exported = variables.filter(([name]) => isOrdinary(name));
	const others = variables.filter(([name]) => !isOrdinary(name));
	const unwanted = ["PATH", "PWD", "OLDPWD", "SHLVL", "_"].filter((name) => !Object.hasOwn(env, name));
	return `folder=\${0%/*}
rm -f "$0" "$folder/run"
${TELL}
cd ${quoted(cwd)} 2>/dev/null || { tell ${quoted(`failed the directory ${inOneLine(cwd)} may not be entered there`)}; exit 127; }
keryx_env=$(command -v env)
if [ -r /proc/$$/stat ]; then
	stat=$(cat /proc/$$/stat)
	set -- \${stat##*") "}
	group=$3; start=\${20}
	boot=$(cat /proc/sys/kernel/random/boot_id)
	input=$(ls -l /proc/$$/fd/0); input=\${input##* -> }
else
	group=$(ps -o pgid= -p $$); start=$(LC_ALL=C ps -o lstart= -p $$)
	boot=$(sysctl -n kern.boottime | tr -d ' ')
	input=-
fi
terminal=-
[ -t 0 ] && terminal=$(tty)
tell "started $$ $((group)) $terminal $input $boot $start"
exec 5>&2 2>/dev/null
${exported.map(([name, value]) => `export ${name}=${quoted(value)}\n`).join("")}exec "$keryx_env" ${[
		...unwanted.map((name) => `-u ${name}`),
		"--",
		...others.map(([name, value]) => quoted(`${name}=${value}`)),
		...argv.map(quoted),
	].join(" ")} 2>&5 4>&- 5>&-
`;
}

/** Special to shells, or not settable. */
const SPECIAL =
	/^(BASH.*|E?UID|PPID|GROUPS|SHELLOPTS|PWD|OLDPWD|SHLVL|_|IFS|OPT(IND|ARG|ERR)|LINENO|RANDOM|SECONDS|PS\d|keryx_env)$/;

function isOrdinary(name: string): boolean {
	return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !SPECIAL.test(name);
}

function inOneLine(text: string): string {
	return text.replaceAll("\n", " ");
}
