import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["src/**/*.test.ts", "test/**/*.test.ts"],
		// Each file gets its own process: a test that kills, forks or opens a store cannot disturb another.
		pool: "forks",
		testTimeout: 60_000,
		hookTimeout: 60_000,
	},
});
