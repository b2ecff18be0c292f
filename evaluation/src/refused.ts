/** What an agent or its program left cannot be taken. It counts as the agent’s failure; its message is one sentence. */
export class Refused extends Error {}
