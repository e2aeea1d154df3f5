// All random draws come from one seed: `npm test` draws the same on every machine, so a failure has a reason;
// KERYX_SEED=<number>, which `npm run test:crash` changes each time, draws something else.
import fc from "fast-check";

export const SEED = Number(process.env.KERYX_SEED ?? 7);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
