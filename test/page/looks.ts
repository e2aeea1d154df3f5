// How a view stands up to being looked at: light and dark, wide and on a phone; nothing for axe to find, nothing to scroll sideways.
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { axeFindings, type Keryx, type Seat, screenshot, takeSeat } from "./support.ts";

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

const LOOKS = [
	{ name: "light", colorScheme: "light", viewport: WIDE },
	{ name: "dark", colorScheme: "dark", viewport: WIDE },
	{ name: "phone", colorScheme: "light", viewport: PHONE },
] as const;
/** For what is simple: as different from the first as can be. */
const AT_A_GLANCE = [{ name: "phone-dark", colorScheme: "dark", viewport: PHONE }] as const;

interface View {
	readonly path: string;
	/** Of its screenshots. */
	readonly name: string;
	/** Waits for what the view shows when everything was read. */
	readonly ready: (page: Page) => Promise<unknown>;
	readonly atAGlance?: boolean;
}

export async function expectGoodLooks(browser: Browser, keryx: Keryx, views: readonly View[]): Promise<void> {
	const { page, leave } = await takeSeat(browser, keryx, { viewport: WIDE });
	for (const { path, name, ready, atAGlance = false } of views) {
		await page.goto(`${keryx.url}${path}`);
		for (const look of atAGlance ? AT_A_GLANCE : LOOKS) {
			await page.emulateMedia({ colorScheme: look.colorScheme });
			await page.setViewportSize(look.viewport);
			await ready(page);
			await screenshot(page, `${name}-${look.name}`);
			expect(await axeFindings(page), `${name} ${look.name}`).toEqual([]);
			expect(await sidewaysScroll(page), `${name} ${look.name} scrolls sideways`).toBe(false);
		}
	}
	await leave();
}

export const LOOK_NAMES = ["light", "dark", "phone"] as const;

export type Look = (
	name: (typeof LOOK_NAMES)[number],
	path: string,
	see: (page: Page) => Promise<void>,
) => Promise<void>;

/** The same for what is looked at in steps of its own: at a path, in the seat that is there, or on a phone. */
export async function lookAt(
	{ browser, keryx, seat }: { readonly browser: Browser; readonly keryx: Keryx; readonly seat: Seat },
	...[name, path, see]: Parameters<Look>
): Promise<void> {
	if (name === "phone") {
		const phone = await takeSeat(browser, keryx, { path, viewport: PHONE, hasTouch: true, isMobile: true });
		await see(phone.page);
		return phone.leave();
	}
	await seat.page.emulateMedia({ colorScheme: name });
	await seat.page.goto(`${keryx.url}${path}`);
	await see(seat.page);
}

function sidewaysScroll(page: Page): Promise<boolean> {
	return page
		.locator("html, main")
		.evaluateAll((all) => all.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth));
}
