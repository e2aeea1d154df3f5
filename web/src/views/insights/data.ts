import type { Answer } from "../../../../src/http/endpoints.ts";

export type InsightsData = Answer<"insights">;
