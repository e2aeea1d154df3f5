import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sanitizeModelOverride } from "./model-override.ts";

describe("sanitizeModelOverride", () => {
	test("keeps model, provider and base_url, trimmed", () => {
		expect(
			sanitizeModelOverride({ model: " gpt ", provider: "openai\n", base_url: " http://127.0.0.1:8080/v1 " }),
		).toEqual({ model: "gpt", provider: "openai", base_url: "http://127.0.0.1:8080/v1" });
	});

	test("I12: drops keys, tokens and everything else", () => {
		const given = {
			model: "m",
			api_key: "sk-1",
			apiKey: "sk-2",
			headers: { authorization: "x" },
			baseUrl: "http://x",
		};
		expect(sanitizeModelOverride(given)).toEqual({ model: "m" });
	});

	test.each([
		"ftp://host/v1",
		"file:///etc/passwd",
		"javascript:alert(1)",
		"host/v1",
		"http://",
		"https://user:secret@host/v1",
		"https://token@host/v1",
		"http://ho\nst/v1",
	])("base_url %j is dropped, the rest stays", (base_url) =>
		expect(sanitizeModelOverride({ model: "m", base_url })).toEqual({ model: "m" }),
	);

	test.each([
		null,
		undefined,
		"m",
		7,
		true,
		[],
		[{ model: "m" }],
		{},
		{ model: "" },
		{ model: "  " },
		{ model: 7 },
	])("%j leaves nothing", (value) => expect(sanitizeModelOverride(value)).toBeNull());

	test("an inherited field is not a field", () => {
		expect(sanitizeModelOverride(Object.create({ model: "m" }))).toBeNull();
	});

	test("what is read back is what was written, and holds nothing but the three fields", () => {
		const loose = fc.record(
			{
				model: fc.anything(),
				provider: fc.string(),
				base_url: fc.oneof(fc.webUrl(), fc.string()),
				other: fc.anything(),
			},
			{ requiredKeys: [] },
		);
		fc.assert(
			fc.property(fc.oneof(fc.anything(), loose), (value) => {
				const kept = sanitizeModelOverride(value);
				expect(sanitizeModelOverride(kept)).toEqual(kept);
				for (const [field, text] of Object.entries(kept ?? {})) {
					expect(["model", "provider", "base_url"]).toContain(field);
					expect(text).toBe(String(text).trim());
				}
			}),
		);
	});
});
