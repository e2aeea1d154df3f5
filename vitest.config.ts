import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// `npm run test:peers` has its own: they need programs that are no part of this package.
		include: process.env.KERYX_PEERS
			? ["test/peers/**/*.peer.ts"]
			: ["src/**/*.test.ts", "test/**/*.test.ts"],
		// Each file gets its own process: a test that kills, forks or opens a store cannot disturb another.
		pool: "forks",
		// As many as there are cores: by default one is left idle, which on two cores is half of the time.
		maxWorkers: "100%",
		setupFiles: "test/support/seed.ts",
		globalSetup: "test/support/global-setup.ts",
		testTimeout: 120_000,
		hookTimeout: 120_000,
		// What is waited for comes when it comes; on a busy machine that is not within a second.
		expect: { poll: { timeout: 30_000 } },
	},
});
