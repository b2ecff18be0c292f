/**
 * Files of an agent or its program that cannot be accepted. Counts as the agent’s failure; its message is one
 * sentence.
 */
export class Refused extends Error {}
