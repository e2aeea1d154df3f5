// The packages that configured platforms need and that do not come with Keryx.
import { missingPackages, PLATFORM_PACKAGES } from "../../../app/packages.ts";
import type { Config } from "../../../config/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, wrong } from "./finding.ts";

export function lookAtPackages(home: string, { channels }: Pick<Config, "channels">): Finding[] {
	const platforms = new Set(
		Object.values(channels)
			.filter(({ bridge, module }) => !bridge && module === undefined)
			.map(({ platform }) => platform),
	);
	return [...platforms]
		.filter((platform) => Object.hasOwn(PLATFORM_PACKAGES, platform))
		.map((platform) => {
			const missing = missingPackages(platform, home);
			const words = texts.doctor.packages;
			return missing.length === 0
				? fine("packages", words.fine(platform))
				: wrong("packages", words.missing(platform, missing.join(", ")), words.remedy(platform));
		});
}
