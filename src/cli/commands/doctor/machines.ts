// The command containers: whether the engine answers and has the image.
import { type Config, type Environment, machineInWords, otherMachines } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { assertContainer } from "../../../processes/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, wrong } from "./finding.ts";

export async function lookAtContainers(config: Config, env: Environment): Promise<Finding[]> {
	const findings: Finding[] = [];
	for (const machine of otherMachines(config)) {
		if (!machine.container) continue;
		const { engine, image } = machine.container;
		try {
			await assertContainer({ engine, image, env });
			findings.push(fine("commands", texts.doctor.containers.fine(machineInWords(machine))));
		} catch (error) {
			if (!(error instanceof KeryxError)) throw error;
			findings.push(wrong("commands", error.message, error.hint ?? null));
		}
	}
	return findings;
}
