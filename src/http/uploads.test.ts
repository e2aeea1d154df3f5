import { expect, test } from "vitest";
import { uploadedBlob, uploadName } from "./uploads.ts";

const BLOB = "01a1ea48-ced8-7a3e-af7c-29d7dbd29df1";

test("a name is good for its uploader, at every gateway that shares the page's secret", () => {
	const one = { operatorSecret: "of one", pageSecret: "of both" };
	const other = { operatorSecret: "of another", pageSecret: "of both" };
	const name = uploadName(one, "channel:carrier", BLOB);
	expect(name.length).toBeLessThanOrEqual(64);
	expect(uploadedBlob(other, "channel:carrier", name)).toBe(BLOB);
	for (const [host, owner, given] of [
		[other, "channel:pigeon", name],
		[{ operatorSecret: "of one" }, "channel:carrier", name],
		[one, "channel:carrier", BLOB],
		[one, "channel:carrier", `${BLOB.replace("0", "1")}.${name.split(".")[1]}`],
		[one, "channel:carrier", ""],
	] as const)
		expect(() => uploadedBlob(host, owner, given), given).toThrow(/there is no upload/);
});
