import { defineConfig, mergeConfig } from "vitest/config";
import usual from "./vitest.config.ts";

/** `npm run test:peers`: with programs of others, which `npm test` does not fetch. */
export default defineConfig({
	...mergeConfig(usual, {}),
	test: { ...usual.test, include: ["test/peers/**/*.peer.ts"], testTimeout: 300_000, maxWorkers: 1 },
});
