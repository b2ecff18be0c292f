/** The last line but one, while there is nothing else to say. */
export const hint = ' Enter send · Tab terminal · PgUp scroll · F1 help · Ctrl-C leave';

export const help = `
  Enter         send the message, or the answer to a question
  y  a  n       allow the call that waits · always in this session · reject it
                (with an empty line, once it was there for a moment; or write a reason and press Ctrl-N)
  Tab           write in the terminal of the agent; Ctrl-] comes back
  F2            show the next terminal
  PgUp  PgDn    scroll the chat
  F3            pause or resume the session
  F1            this help, and back
  Ctrl-C        leave; the session goes on
`;
