// Programs that run code of another language than the shell's, and how they are given it. A table only.

export interface Interpreter {
	readonly names: RegExp;
	/** Options whose value is code. */
	readonly inline: RegExp;
	/** Without a file, the program comes from standard input. */
	readonly stdin: boolean;
	/** Backticks are text, not a command. */
	readonly templates?: boolean;
	/** Options with a value that is not code: otherwise that value would pass for the script. */
	readonly values?: RegExp;
}

const INTERPRETERS: readonly Interpreter[] = [
	{
		names: /^(python[\d.]*|pypy[\d.]*|ipython\d?|jython|micropython)$/,
		inline: /^-[A-Za-z]*c$/,
		stdin: true,
		templates: true,
		values: /^-[WX]$/,
	},
	{
		names: /^(node|nodejs|bun|tsx|ts-node|ts-node-esm|swc-node|babel-node)$/,
		inline: /^(-[a-z]*[ep]|--eval|--print|-pe)$/,
		stdin: true,
		templates: true,
		values:
			/^(-r|--require|--import|--loader|--experimental-loader|--env-file|-C|--conditions|--title|--input-type|--test-name-pattern|--test-reporter)$/,
	},
	{ names: /^deno$/, inline: /^(eval|--eval)$/, stdin: false },
	{
		names: /^(perl[\d.]*|ruby[\d.]*|jruby|truffleruby)$/,
		inline: /^-[A-Za-z0-9]*[eE]$/,
		stdin: true,
		values: /^-(I|r)$/,
	},
	{ names: /^php[\d.]*$/, inline: /^-[rBREF]$/, stdin: true, values: /^-[cdztS]$/ },
	{ names: /^(irb|pry)$/, inline: /^-e$/, stdin: true },
	{
		names:
			/^(lua[\d.]*|luajit|rscript|r|julia|elixir|erl|groovy|scala|osascript|swift|raku|guile|racket|sbcl|clojure|clj|ghc|octave|tclsh|expect|jshell|gjs|qjs|janet|crystal|nim|bb)$/,
		inline: /^(-e|-l|-E|--eval|--eval=.*|-eval|-c|-s|--expr)$/,
		stdin: true,
	},
];

export function interpreterOf(name: string): Interpreter | undefined {
	return INTERPRETERS.find(({ names }) => names.test(name));
}
