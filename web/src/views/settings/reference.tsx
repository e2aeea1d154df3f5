import { useState } from "react";
import { ApiError, readText } from "../../api/index.ts";
import { Button } from "../../ui/index.ts";

/** A browser that goes to /docs by itself sends the cookie alone, which opens nothing: the page reads it and shows what it got. */
export function Reference() {
	const [problem, setProblem] = useState<string | null>(null);
	const open = async () => {
		setProblem(null);
		try {
			const blob = new Blob([await readText("/docs")], { type: "text/html" });
			const link = document.createElement("a");
			link.href = URL.createObjectURL(blob);
			link.target = "_blank";
			link.click();
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
			setProblem(error.message);
		}
	};
	return (
		<div className="flex max-w-160 flex-col items-start gap-2 text-ink-2">
			<p>Every call of the HTTP API with an example, for programs that talk to Keryx.</p>
			<Button onClick={() => void open()}>Open the API reference</Button>
			{problem !== null && <p role="alert">It cannot be read: {problem}</p>}
		</div>
	);
}
