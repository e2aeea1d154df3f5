// The examples in the guides, and how they find Keryx.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { faceFile } from "./programs.ts";

/** In the guide's order. `language`: everything after the fence. */
export function examples(guide: string, language: string): string[] {
	const text = readFileSync(new URL(`../../docs/guides/${guide}`, import.meta.url), "utf8");
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
		([, code]) => code as string,
	);
}

/** With the sources instead of the package. */
export function onSources(code: string): string {
	return code.replace(/(?<=from |import\()"keryx(?:\/(\w+))?"/g, (_found, part: string | undefined) =>
		JSON.stringify(pathToFileURL(faceFile(part ?? "app"))),
	);
}
