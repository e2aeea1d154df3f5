// How Keryx is called here, so that the commands it names work as written: `npm start --` in a clone, where nothing is installed.

/** By what npm says of itself to the programs it starts. */
export function calledAs(env: Readonly<Record<string, string | undefined>>): string {
	const { npm_lifecycle_event: event, npm_package_name: name } = env;
	if (event === "npx") return "npx keryx";
	return event === "start" && name === "keryx" ? "npm start --" : "keryx";
}

export const KERYX = calledAs(process.env);
