/**
 * The agent or its program left files that cannot be accepted. Counts as the agent’s failure; its
 * message is one sentence.
 */
export class Refused extends Error {}
