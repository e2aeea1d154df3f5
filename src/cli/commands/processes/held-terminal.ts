// Holds the terminal for `keryx attach`: raw mode and listeners, all undone by one function.
import type { AttachOptions } from "./attachment.ts";

/** Takes the keyboard in raw mode, and the window's size. Returns the restore function. */
export function holdTerminal(
	{ input, output }: Pick<AttachOptions, "input" | "output">,
	on: { readonly data: (chunk: Buffer) => void; readonly end: () => void; readonly resize: () => void },
): () => void {
	input.setRawMode(true);
	input.on("data", on.data);
	input.on("end", on.end);
	output.on("resize", on.resize);
	input.resume();
	return () => {
		input.off("data", on.data);
		input.off("end", on.end);
		output.off("resize", on.resize);
		input.setRawMode(false);
		input.pause();
	};
}
