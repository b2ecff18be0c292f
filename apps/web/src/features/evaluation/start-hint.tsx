/** The text of an empty board: what it will show, and the commands that start a run. */
export function StartHint() {
  return (
    <div className="mx-auto max-w-2xl p-6 max-sm:p-4">
      <h2 className="text-lg font-semibold">No benchmark runs yet</h2>
      <p className="mt-1 mb-3 text-muted">
        A run appears here trial by trial, with its score, answers and test logs. Tasks are read
        from your own copy of a suite. An admin starts one with <em>New run</em>; in a terminal on
        this machine, a run has more options.
      </p>
      <p className="text-sm text-muted">First check that the tasks work, without a model:</p>
      <Command text="npx belay eval run human-eval --data HumanEval.jsonl.gz --agent oracle" />
      <p className="mt-3 text-sm text-muted">Then let a model work on twenty of them:</p>
      <Command text="npx belay eval run human-eval --data HumanEval.jsonl.gz --model PROVIDER:MODEL --sample 20 --preflight" />
    </div>
  );
}

function Command({ text }: { text: string }) {
  return (
    <pre className="mt-1 rounded-md border bg-sunken px-3 py-2 text-xs break-words whitespace-pre-wrap">
      {text}
    </pre>
  );
}
