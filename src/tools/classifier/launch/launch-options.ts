// Options by which an ordinary program runs another program, loads code or opens a connection. A table only.

export interface LaunchOption {
	readonly names: RegExp;
	/** A word and the one after it, with a space behind each. */
	readonly word: RegExp;
	readonly why: string;
}

const RUNS = "has another program run a command";
const LOADS = "has another program load code";
const LOOKS = "looks into a running program";

export const LAUNCH_OPTIONS: readonly LaunchOption[] = [
	{
		names: /^(vi|vim|nvim|view|ex|gvim|vimdiff)$/,
		word: /^-(S|u|U|s|W) |^-[SuU][^ ]|^-ll? |^\+source\b/,
		why: LOADS,
	},
	{ names: /^emacs(client)?$/, word: /^--?(script|eval|execute|funcall|f|load|l)[= ]/, why: LOADS },
	{ names: /^(nano|pico|micro)$/, word: /^(-s|--speller|-plugin|-f)/, why: RUNS },
	{
		names: /^(gdb|lldb|rr)$/,
		word: /^(-x|--command|-ix|-iex|-s|--source|-S|-o|--one-line|-O)[= ]/,
		why: LOADS,
	},
	{ names: /^(less|lesskey)$/, word: /^(-k|--lesskey|-K.)/, why: LOADS },
	{
		names: /^(bat|batcat|delta|ag|ack|git-delta|glow|mdcat)$/,
		word: /^--?(pager|P|diff-cmd)[= ]/,
		why: RUNS,
	},
	{ names: /^(rg|ugrep)$/, word: /^--(pre|hostname-bin|filter|pager)[= ]/, why: RUNS },
	{
		names: /^(fzf|sk)$/,
		word: /^--?(preview|bind|execute)[= ]/,
		why: RUNS,
	},
	{ names: /^(yt-dlp|youtube-dl)$/, word: /^--(exec|external-downloader|config-location)/, why: RUNS },
	{ names: /^aria2c$/, word: /^--(on-|conf-path)/, why: RUNS },
	{ names: /^(uu-)?coreutils$/, word: /^--coreutils-prog/, why: RUNS },
	{ names: /^rake$/, word: /^(-e|--execute|-p|-E) /, why: LOADS },
	{ names: /^sbt$/, word: /^eval\b/, why: LOADS },
	{
		names: /^wp$/,
		word: /^(eval|eval-file|shell|db (reset|drop|clean|query|import)) /,
		why: "runs code or empties a database",
	},
	{ names: /^tshark$/, word: /^-X/, why: LOADS },
	{ names: /^g?sort$/, word: /^--compress-program/, why: RUNS },
	{
		names: /^(cc|gcc|c\+\+|g\+\+|clang|clang\+\+)$/,
		word: /^(-wrapper|-fplugin|-specs|-B.|-fuse-ld=\/|--load|-Xclang)/,
		why: LOADS,
	},
	{ names: /^(ld|gold|lld|ld\.\w+)$/, word: /^--?plugin/, why: LOADS },
	{ names: /^(u?ctags)$/, word: /^--(options|_?opt|langdef|filter)/, why: LOADS },
	{
		names: /^(tcpdump|tshark|dumpcap)$/,
		word: /^-[a-zA-Z]*z|^-[wi] /,
		why: "listens to the network or runs a command",
	},
	{ names: /^nmap$/, word: /^--script|^--interactive/, why: LOADS },
	{ names: /^wget2?$/, word: /^--(use-askpass|config|execute)|^-e /, why: RUNS },
	{
		names: /^curl$/,
		word: /^(-K|--config)|^--engine/,
		why: "takes its instructions from a file that cannot be checked",
	},
	{
		names: /^pandoc$/,
		word: /^(--filter|-F|--lua-filter|-L|--pdf-engine=?[./]|--extract-media=\/)/,
		why: LOADS,
	},
	{ names: /^(gs|ghostscript)$/, word: /^-dNOSAFER|%pipe%|^--permit/, why: RUNS },
	{
		names: /^(la|pdfla|xela|luala|pdf|xe|lua|e)?tex$/,
		word: /-shell-escape|-enable-write18|\\write18|\\directlua/,
		why: RUNS,
	},
	{
		names: /^(convert|magick|mogrify|identify)$/,
		word: /^(ephemeral|msl|mvg|text|label|https?|url):|\|/i,
		why: RUNS,
	},
	{
		names: /^ffmpeg$/,
		word: /^(concat|subfile|file|pipe):|\/dev\//,
		why: "reads files or devices that are hard to check",
	},
	{ names: /^(hg|svn|bzr|fossil)$/, word: /^--config(-option)?[= ]/, why: RUNS },
	{ names: /^openssl$/, word: /^(engine|-engine|-provider|-provider-path) /, why: LOADS },
	{ names: /^(ssh-keygen|ssh)$/, word: /^-[DI]/, why: LOADS },
	{
		names: /^(node|nodejs|tsx|ts-node)$/,
		word: /^--(import|loader|experimental-loader|require)[= ]?(data|https?):/,
		why: LOADS,
	},
	{
		names: /^(node|nodejs)$/,
		word: /^--inspect(-brk|-wait)?=(?!(localhost|127\.|\[::1\]|\d+ ))/,
		why: "lets others run code in this program",
	},
	{
		names: /^php[\d.]*$/,
		word: /(auto_prepend_file|auto_append_file|extension|disable_functions)=/,
		why: LOADS,
	},
	{ names: /^go$/, word: /^--?(toolexec|exec|vettool|overlay)[= ]/, why: RUNS },
	{ names: /^go$/, word: /^env -[wu] /, why: "changes how go builds" },
	{ names: /^cargo$/, word: /^--config[= ]/, why: "changes how cargo builds" },
	{
		names: /^(npm|pnpm|yarn)$/,
		word: /^--(script-shell|shell|node-options|userconfig|globalconfig|init-module)[= ]/,
		why: RUNS,
	},
	{ names: /^(pytest|py\.test)$/, word: /^-p ?(?!no:)[\w./]|^--pastebin/, why: LOADS },
	{ names: /^(g|b)?make$/, word: /^(--eval|-E)[= ]|^--include-dir/, why: RUNS },
	{ names: /^(latexmk|arara)$/, word: /^-(e|r|pdflatex)/, why: RUNS },
	{ names: /^zip$/, word: /^-[a-zA-Z]*TT |^--unzip-command/, why: RUNS },
	{ names: /^rsync$/, word: /^--(daemon|config)/, why: "opens this machine's files to others" },
	{ names: /^tar$/, word: /^-[a-zA-Z]*P|^--absolute-names/, why: "writes files anywhere" },
	{
		names: /^(gdb|strace|ltrace|lldb|rr|perf|reptyr|gcore|pstack|py-spy|rbspy|jstack|jmap|jattach)$/,
		word: /^(-p|--pid|-a|--attach-pid|attach|dump)[= ]|^-p\d/,
		why: LOOKS,
	},
	{ names: /^(gcore|reptyr|pstack|bpftrace|bpftool|systemtap|stap|sysdig|dtrace)$/, word: /^/, why: LOOKS },
	{
		names: /^(run-parts|xdg-open|open|gio|gtk-launch|exo-open)$/,
		word: /\.(desktop|command|app|sh|jar|appimage|exe|terminal|workflow) |^-a |^launch /i,
		why: "starts a program by its file",
	},
	{ names: /^run-parts$/, word: /^/, why: "runs every program in a folder" },
	{ names: /^(bind)$/, word: /^-[xf] /, why: RUNS },
	{ names: /^(complete|compgen)$/, word: /^-[a-zA-Z]*[CFW] /, why: RUNS },
	{ names: /^(mapfile|readarray)$/, word: /^-[a-zA-Z]*C/, why: RUNS },
	{ names: /^fc$/, word: /^-[a-zA-Z]*[se]/, why: "runs a command from the history again" },
	{ names: /^history$/, word: /^-[a-zA-Z]*[spar] /, why: "changes the history of commands" },
	{
		names: /^(direnv)$/,
		word: /^(allow|permit|grant|edit) /,
		why: "lets a file of the folder run when somebody enters it",
	},
	{ names: /^parallel$/, word: /^(-a|--arg-file|--pipe-part|--cat)[= ]/, why: "runs commands from a file" },
	{ names: /^(xclip|xsel)$/, word: /^-[a-z]*[obps]|^--output/, why: "reads what the user has copied" },
	{ names: /^deno$/, word: /^(eval|repl) /, why: "runs code that has every right" },
	{ names: /^rpm(build)?$/, word: /^(-E|--eval|-D|--define|--pipe|--load)[= ]/, why: RUNS },
	{ names: /^(apt|apt-get|aptitude)$/, word: /^(-o|--option) ?\S*(invoke|exec|run|dir::bin)/i, why: RUNS },
	{ names: /^man$/, word: /^(-C|--config-file)[= ]/, why: LOADS },
	{ names: /^(gradle|gradlew)$/, word: /^(-I|--init-script)[= ]/, why: LOADS },
	{ names: /^(mvn|mvnw)$/, word: /^exec:exec|^-Dexec\./, why: RUNS },
	{ names: /^docker$/, word: /^--config[= ]/, why: "takes docker's settings from a file that is not seen" },
	{ names: /^(zpty|zmodload|sched|zle)$/, word: /^/, why: "changes what the shell runs" },
	{
		names: /^(tmux)$/,
		word: /^(pipe-pane|pipep|run-shell|run|if-shell|if|source-file|source|set-hook|bind-key|bind|respawn-pane|respawn-window|command-prompt) /,
		why: "has another terminal run commands",
	},
	{ names: /^tmux$/, word: /^kill-(server|session) /, why: "ends every program of a terminal" },
	{ names: /^(ldconfig|patchelf|chrpath|install_name_tool)$/, word: /^/, why: "changes what programs load" },
	{ names: /^(wine|wine64|mono|cmd|cmd\.exe)$/, word: /^/, why: "runs a program of another system" },
	{ names: /^ssh-agent$/, word: /^[^-]/, why: RUNS },
	{
		names: /^docker(-compose)?$/,
		word: /^(plugin (install|enable|set)|context (use|create|update|import)) /,
		why: "changes what docker runs, or where",
	},
	{ names: /^helm$/, word: /^plugin (install|update) /, why: LOADS },
	{
		names: /^gh$/,
		word: /^(extension (install|upgrade|exec|create)|alias (set|import)) /,
		why: "gives gh another command",
	},
];

/** Programs that watch the screen, the clipboard or the keyboard, whatever their arguments. */
export const WATCHERS =
	/^(pbpaste|wl-paste|xwd|scrot|maim|grim|screencapture|gnome-screenshot|import|flameshot|xdotool|ydotool|wtype|xinput|arecord|parecord|rec|fswebcam|ttyrec|asciinema|showkey|evtest)$/;
