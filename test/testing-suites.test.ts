// The suites as an extension in its own repository calls them: through keryx/testing, at the top of a test file.
import { systemClock } from "../src/gateway/index.ts";
import { createScriptedLoopAgent, testAgent } from "../src/testing/index.ts";

await testAgent("called through keryx/testing", () => ({
	agent: createScriptedLoopAgent({
		script: { otherwise: [{ text: "You said {{input}}" }] },
		clock: systemClock,
	}),
	asks: [{ history: [{ role: "user", kind: "person", content: "hello" }] }],
	slow: [],
	failing: [],
	deterministic: true,
}));
