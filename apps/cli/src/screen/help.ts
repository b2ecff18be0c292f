/** The line above the input when there is nothing else to show. */
export const hint = ' Enter send · Tab terminal · PgUp scroll · F1 help · Ctrl-C leave';

export const help = `
  Enter         send the message, or the answer to a question
  y  a  n       allow the pending call · always in this session · reject it
                (after a moment to read it, while the line is empty; to give a reason, write it and press Ctrl-N)
  Tab           type in the agent’s terminal; Ctrl-] returns
  F2            show the next terminal
  PgUp  PgDn    scroll the chat
  F3            pause or resume the session
  F1            show or hide this help
  Ctrl-C        leave; the session keeps running
`;
