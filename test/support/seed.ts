// What is drawn by chance is drawn from one seed: `npm test` finds the same on every machine and fails for a reason alone, and
// KERYX_SEED=<number>, which `npm run test:crash` sets anew each time, finds something else.
import fc from "fast-check";

export const SEED = Number(process.env.KERYX_SEED ?? 7);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
