// What one does and looks at in a conversation on the page.
import type { Locator, Page } from "playwright-core";
import type { Keryx } from "./support.ts";

export function box(page: Page): Locator {
	return page.getByRole("textbox", { name: "Message" });
}

export function transcript(page: Page): Locator {
	return page.getByRole("region", { name: "Transcript" });
}

/** What a person said. */
export function message(page: Page, text: string | RegExp): Locator {
	return transcript(page).getByRole("article", { name: "Message" }).filter({ hasText: text });
}

export function answer(page: Page, text: string | RegExp): Locator {
	return transcript(page).getByRole("article", { name: "Answer" }).filter({ hasText: text });
}

/** What persons and agents said, as it can be read, in its order. */
export function texts(page: Page): Promise<readonly string[]> {
	return transcript(page).locator("article .prose").allInnerTexts();
}

export async function write(page: Page, text: string): Promise<void> {
	await box(page).fill(text);
	await box(page).press("Enter");
}

let told = 0;

/** The same person as on the page, from elsewhere. Resolves when it is answered. */
export async function tell(
	{ client }: Pick<Keryx, "client">,
	chat: string,
	text: string,
	{ wait = true }: { readonly wait?: boolean } = {},
): Promise<string> {
	const { id, conversation } = await client.send({
		text,
		client_message_id: `told ${++told}`,
		source: {
			platform: "web",
			chat_type: "dm",
			chat_id: chat,
			chat_name: chat,
			user_id: "operator",
			user_name: "Operator",
		},
	});
	if (wait) await client.inbound({ id, wait: 30 });
	return conversation ?? "";
}

/**
 * Evaluates an expression in every frame of the page as it is drawn; answers what it was, each time, once it is asked to. What is
 * drawn is known only after everything that follows a change of size has had its turn, so a change of size is what is waited for.
 */
export async function everyFrame<Value>(page: Page, expression: string): Promise<() => Promise<Value[]>> {
	const name = `frames${++told}`;
	await page.evaluate(`(() => {
		const values = [];
		const probe = document.createElement("div");
		probe.style.cssText = "position: fixed; top: 0; left: 0; height: 1px; pointer-events: none";
		document.body.append(probe);
		new ResizeObserver(() => values.push(${expression})).observe(probe);
		let width = 0;
		const change = () => {
			if (globalThis.${name} !== values) return probe.remove();
			width = 1 - width;
			probe.style.width = width + 1 + "px";
			requestAnimationFrame(change);
		};
		globalThis.${name} = values;
		change();
	})()`);
	return () =>
		page.evaluate(
			`(() => { const values = globalThis.${name}; globalThis.${name} = null; return values; })()`,
		) as Promise<Value[]>;
}
