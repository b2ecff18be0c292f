import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { clsx } from 'clsx';
import { QueryState } from '@/components/ui/query-state';
import { IconButton } from '@/components/ui/icon-button';
import { stripAnsi } from '@/lib/strip-ansi';
import { downloadFile } from '@/lib/download-file';
import { recordQuery } from './queries';

/** A text recorded by a trial: its answer, coloured if it is a diff, or its test log. */
export function RecordSection({ title, run, blob }: { title: string; run: string; blob: string }) {
  const record = useQuery(recordQuery(run, blob));
  const save = (text: string) =>
    downloadFile(`${title.toLowerCase().replace(' ', '-')}.txt`, text, 'text/plain');
  return (
    <section aria-label={title} className="mt-4">
      <div className="mb-1 flex items-center justify-between">
        <h3 className="text-sm font-medium">{title}</h3>
        {record.data !== undefined && (
          <IconButton
            label={`Save the ${title.toLowerCase()}`}
            icon={Download}
            onClick={() => save(record.data)}
          />
        )}
      </div>
      <QueryState query={record} what={title.toLowerCase()} />
      {record.data !== undefined && (
        <pre
          tabIndex={0}
          className="max-h-[60vh] overflow-auto rounded-md border bg-sunken p-3 text-xs leading-[18px]"
        >
          {record.data.startsWith('diff --git ')
            ? record.data
                .trimEnd()
                .split('\n')
                .map((line, index) => (
                  <span key={index} className={clsx('block', lookOf(line))}>
                    {line || ' '}
                  </span>
                ))
            : stripAnsi(record.data) || 'Empty'}
        </pre>
      )}
    </section>
  );
}

function lookOf(line: string): string {
  if (/^(diff|index|---|\+\+\+|@@)/.test(line)) return 'text-faint';
  if (line.startsWith('+')) return 'bg-pass-soft text-pass';
  return line.startsWith('-') ? 'bg-fail-soft text-fail' : '';
}
