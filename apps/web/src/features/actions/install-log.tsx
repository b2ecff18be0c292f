import { useEffect, useRef } from 'react';
import type { ActionInstall } from '@belay/protocol';
import { Button } from '@/components/ui/button';

interface InstallLogProps {
  job: ActionInstall;
  onStop(): void;
  onClose(): void;
}

/** The live log of an install. */
export function InstallLog({ job, onStop, onClose }: InstallLogProps) {
  const isRunning = job.state === 'running';
  const log = useRef<HTMLPreElement>(null);
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [job.lines.length]);
  return (
    <div className="space-y-3">
      <p role="status" className="text-sm font-medium">
        {
          { running: 'Installing…', done: 'Installed', failed: 'Installation incomplete' }[
            job.state
          ]
        }
      </p>
      {job.actions.map(
        ({ name, error }) =>
          error && (
            <p key={name} role="alert" className="text-sm break-words text-fail">
              {name}: {error}
            </p>
          ),
      )}
      <pre
        ref={log}
        tabIndex={0}
        aria-label="Installation log"
        className="max-h-72 overflow-auto rounded-md border bg-hover p-2 font-mono text-xs whitespace-pre-wrap"
      >
        {job.lines.join('\n')}
      </pre>
      {isRunning ? (
        <Button onClick={onStop}>Stop</Button>
      ) : (
        <Button look="solid" onClick={onClose}>
          Done
        </Button>
      )}
    </div>
  );
}
