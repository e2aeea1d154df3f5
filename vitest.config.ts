import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["src/**/*.test.ts", "test/**/*.test.ts"],
		// Each file gets its own process: a test that kills, forks or opens a store cannot disturb another.
		pool: "forks",
		// As many as there are cores: by default one is left idle, which on two cores is half of the time.
		maxWorkers: "100%",
		globalSetup: "test/support/global-setup.ts",
		testTimeout: 120_000,
		hookTimeout: 120_000,
	},
});
