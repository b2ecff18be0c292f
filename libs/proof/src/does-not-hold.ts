/** What was to be verified is not true; the message says why. Whatever else is thrown means that it cannot be said. */
export class DoesNotHold extends Error {}
