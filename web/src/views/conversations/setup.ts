// Whether the page still shows the first steps. Not asked again once they are done or skipped.
import { useEffect } from "react";
import { api, useApi } from "../../api/index.ts";
import { createValue } from "../../lib/value.ts";

const isOver = createValue(false);

/** "wait": not known yet. */
export function useSetup(): "wait" | "open" | "over" {
	const over = isOver.use();
	const { data, isError } = useApi("setup", {}, { on: ["config", "pairing", "session"], enabled: !over });
	useEffect(() => {
		if (!data || data.open || isOver.get()) return;
		isOver.set(true);
		// All steps are done. This is stored, so that none comes back when a model is removed later.
		if (data.steps.length > 0) void api.skipSetup({ step: "all" }).catch(() => isOver.set(false));
	}, [data]);
	if (over || isError) return "over";
	return data === undefined ? "wait" : data.open ? "open" : "over";
}
