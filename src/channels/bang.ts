// Commands on networks whose programs use lines that start with a slash themselves: `!status` is `/status`.

export function asCommand(text: string, commands: ReadonlySet<string>): string {
	const [, name = ""] = /^!([a-z_]+)(?:\s|$)/i.exec(text) ?? [];
	return commands.has(name.toLowerCase()) ? `/${text.slice(1)}` : text;
}
