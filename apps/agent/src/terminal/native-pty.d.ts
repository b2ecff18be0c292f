/** The native part of node-pty, with the interface that its `UnixTerminal` uses. */
declare module '@lydell/node-pty/requireBinary.js' {
  export function requireBinary(file: 'pty.node'): {
    /** Throws when the program cannot be started. `helper` is for macOS only. */
    fork(
      file: string,
      args: string[],
      env: string[],
      cwd: string,
      columns: number,
      rows: number,
      uid: number,
      gid: number,
      utf8: boolean,
      helper: string,
      onExit: (code: number, signal: number) => void,
    ): { fd: number; pid: number };
    resize(fd: number, columns: number, rows: number): void;
  };
}
