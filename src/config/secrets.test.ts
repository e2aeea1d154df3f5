import { expect, test } from "vitest";
import { hideSecretLike } from "./secrets.ts";

test.each([
	"sk-proj-abcdefghij0123456789",
	"ghp_16C7e42F292c6912E7710c838347Ae178B4a",
	"xoxb-123456789012-abcdefghijkl",
	"AKIAIOSFODNN7EXAMPLE",
	"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N",
	"d41d8cd98f00b204e9800998ecf8427e",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz",
])("%j looks like a secret", (text) => {
	expect(hideSecretLike(`it is ${text}`)).toBe("it is •••");
});

test("of an address with a password only the password is hidden", () => {
	expect(hideSecretLike("postgres://ann:hunter2@db/x")).toBe("postgres://ann:•••@db/x");
});

test.each([
	"Europe/Berlin",
	"America/Argentina/ComodRivadavia",
	"notify_exclude_platforms",
	"MY_SERVICE_2_API_KEY_OF_PRODUCTION",
	"/home/Ann/Projects2026/keryx/data",
	"session_reset.by_platform.api_server",
	"1440",
])("%j stays readable", (text) => {
	expect(hideSecretLike(text)).toBe(text);
});
