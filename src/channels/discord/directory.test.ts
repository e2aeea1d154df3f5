// Which channels are private.
import type { REST } from "@discordjs/rest";
import { expect, test } from "vitest";
import { Directory } from "./directory.ts";

test("a group of people is no private chat: what is for one person's eyes is not for it", async () => {
	const directory = new Directory();
	const located = [1, 3, 0].map((type) => {
		const id = `10000000000000000${type}`;
		directory.learn({ id, type });
		return directory.locate(id, undefined, {} as REST);
	});
	expect((await Promise.all(located)).map(({ isPrivate }) => isPrivate)).toEqual([true, false, false]);
});
