import { useState } from "react";
import { ApiError, readText } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Button } from "../../ui/index.ts";

/** A browser that opens /docs directly sends only the cookie, which is not enough. So the page reads it and shows the result. */
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
			<p>{texts.reference.everyCallOfTheHTTP}</p>
			<Button onClick={() => void open()}>{texts.reference.openTheAPIReference}</Button>
			{problem !== null && <p role="alert">{texts.reference.itCannotBeLoaded(problem)}</p>}
		</div>
	);
}
