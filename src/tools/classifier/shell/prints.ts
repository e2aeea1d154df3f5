// The output of programs, as shapes. Tables only.
import { SOME } from "../text.ts";

/** They print nothing when all goes well. */
export const SILENT: ReadonlySet<string> = new Set(
	`: true false test [ cd pushd popd export set unset declare typeset local readonly shopt alias unalias umask trap wait sleep mkdir touch
	cp mv ln rm rmdir read mapfile readarray source . return exit break continue shift hash ulimit`.split(
		/\s+/,
	),
);

/** Programs that print some of their input lines unchanged, with the arguments, as one line, that keep it so. */
export const FILTERS: ReadonlyMap<string, RegExp> = new Map([
	["sort", /^((-[bdfgiMhnRrVsuz]+|-[kt] ?\S+) ?)*$/],
	["uniq", /^(-[diuz]+ ?)*$/],
	["head", /^(-n ?-?\d+|-\d+|-z)?$/],
	["tail", /^(-n ?[+-]?\d+|-\d+|-z)?$/],
	["tac", /^$/],
	["shuf", /^(-n ?\d+)?$/],
	["tee", /^/],
	// Line ends only.
	["tr", /^(\\n|\n) (\\0|\\000| )$|^-d (\\r|\r)$/],
]);

/** Well-known lines that set up a shell, meant for eval: nothing in them but variables and functions. */
export const SET_UP =
	/^(ssh-agent( -[sc])?|(pyenv|rbenv|nodenv|jenv|goenv|phpenv)( virtualenv)?-?init( -)?|(pyenv|rbenv|nodenv|jenv|goenv) init -( --path| --no-rehash| bash| zsh)?|pyenv virtualenv-init -|brew shellenv|direnv (hook|export) \w+|starship init \w+|fnm env( --[\w-]+)*|mise (activate|env)( \w+)?|conda shell\.\w+ hook|zoxide init \w+|opam env|dircolors( -b)?|minikube( -p \w+)? docker-env|luarocks path)$/;

/** The program, its arguments as one line, and the shape of each printed word. No argument may be unseen. */
export const WORDS: readonly (readonly [RegExp, RegExp, string])[] = [
	[/^(whoami|hostname|nproc|arch|uname|logname|uuidgen)$/, /^/, SOME],
	[/^seq$/, /^(-w )?[\d.+\s\uFDD0-]+$/, SOME],
	[/^tput$/, /^(cols|lines|colors)$/, SOME],
	[/^id$/, /^-[gGnru]+$/, SOME],
	[/^date$/, /^[^/\\]*$/, SOME],
	[/^wc$/, /^(-[clmwL]+)?$/, SOME],
	[/^expr$/, /^[\d\s+*/%()<>=\uFDD0-]+$/, SOME],
	[/^stat$/, /^(-c|-f|--format|--printf)[ =]%[sYXZWabBdghiouz] /, SOME],
	[/^openssl$/, /^rand -hex \d+$/, SOME],
	[/^(pgrep|pidof)$/, /^(?!.*(-d|-S|--delimiter|--list|-[a-z]*[la]))/, SOME],
	[/^lsof$/, /(^|\s)-[a-zA-Z]*t/, SOME],
	[
		/^(docker|podman)$/,
		/^(compose )?(ps|images|container ls|volume ls|network ls)(?!.*--format) .*-[a-z]*q/,
		SOME,
	],
	[
		/^(node|npm|yarn|pnpm|bun|deno|go|rustc|cargo|java|ruby|php|python[\d.]*|pip\d?)$/,
		/^(-v|-V|--version|version)$/,
		SOME,
	],
	[/^npm$/, /^bin$/, "node_modules/.bin"],
	[/^npm$/, /^root$/, "node_modules"],
	[/^npm$/, /^prefix$/, "."],
	[/^(which|command)$/, /^(-[pv]+ )?[\w.-]+$/, `/usr/bin/${SOME}`],
	[/^brew$/, /^--prefix( [\w@.-]+)?$/, `/usr/local/opt/${SOME}`],
];
