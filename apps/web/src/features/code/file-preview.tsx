import { useMemo } from 'react';
import { Markdown } from '@/components/ui/markdown';
import { csvRows } from '@/lib/csv';
import { ImageView } from './image-view';

const mostRows = 500;
const mostColumns = 50;

/** Files whose text can also be shown rendered. */
export const canPreview = (path: string): boolean => /\.(md|markdown|svg|csv|tsv)$/i.test(path);

/** Renders Markdown, a drawing or a table, without loading or running anything in it. */
export function FilePreview({ path, text }: { path: string; text: string }) {
  const kind = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  if (kind === 'svg') return <Drawing path={path} text={text} />;
  if (kind === 'csv' || kind === 'tsv') return <Table text={text} />;
  return (
    <div tabIndex={0} role="region" aria-label="Preview" className="h-full overflow-y-auto p-4">
      <div className="mx-auto max-w-3xl text-base">
        <Markdown text={text} />
      </div>
    </div>
  );
}

/** Shown as a picture, because browsers do not run scripts in pictures. */
function Drawing({ path, text }: { path: string; text: string }) {
  const bytes = useMemo(() => new TextEncoder().encode(text), [text]);
  return <ImageView path={path} bytes={bytes} type="image/svg+xml" />;
}

function Table({ text }: { text: string }) {
  const rows = useMemo(() => csvRows(text, mostRows + 1), [text]);
  const [head = [], ...body] = rows;
  return (
    <div tabIndex={0} role="region" aria-label="Preview" className="h-full overflow-auto">
      <table className="border-collapse text-xs tabular-nums">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {head.slice(0, mostColumns).map((cell, index) => (
              <th key={index} className="border-r border-b px-2 py-1 text-left font-medium">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, mostRows).map((row, index) => (
            <tr key={index}>
              {row.slice(0, mostColumns).map((cell, column) => (
                <td key={column} className="max-w-80 truncate border-r border-b px-2 py-0.5">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostRows && (
        <p className="p-2 text-xs text-faint">The first {mostRows} rows.</p>
      )}
    </div>
  );
}
