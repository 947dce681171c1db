/**
 * Names that code of a worker can import from `gantry`, for completion and for whoever points at a name. The stubs that ship with
 * the executor say the same; a test compares the two.
 */
export interface GantryName {
  name: string;
  /** As the stub writes it after the name. */
  type: string;
  about: string;
}

export const CONTEXT_MEMBERS: GantryName[] = [
  { name: 'run_id', type: 'str', about: 'This run: run_..., or tr_... in a test.' },
  { name: 'workspace_id', type: 'str', about: 'The workspace that the run belongs to.' },
  { name: 'attempt', type: 'int', about: '1, and one more each time the run is tried again after a failure.' },
  {
    name: 'inputs',
    type: 'dict[str, Any]',
    about: 'All inputs as they were validated. A file input is the path of the file in the sandbox.',
  },
  {
    name: 'secrets',
    type: 'Mapping[str, str]',
    about: 'The secrets that this code declares, by name. A name that it does not declare is a KeyError.',
  },
  {
    name: 'connections',
    type: 'Mapping[str, Connection]',
    about: 'The connections that this worker declares, by the declared name; the token of each is a placeholder.',
  },
  {
    name: 'tools',
    type: 'Mapping[str, Any]',
    about:
      'Tools of the declared connections, called by the platform and recorded like a step: context.tools["linear"].create_issue(title="..."). Raises ToolError.',
  },
  {
    name: 'log',
    type: '(message: Any, level: Literal["debug", "info", "warning", "warn", "error"] = "info", **fields: Any) -> None',
    about: 'Writes one line of the run’s log, with structured fields beside it. print and logging write log lines too.',
  },
  {
    name: 'progress',
    type: '(fraction: float, message: str | None = None) -> None',
    about: 'Says how far the run is, from 0 to 1, and what it is doing. Shown live; the last one counts.',
  },
  {
    name: 'artifact',
    type: '(name: str, path_or_bytes: str | PathLike[str] | bytes | bytearray | memoryview, content_type: str | None = None) -> str',
    about: 'Keeps a file beyond the run and returns the artifact’s id. The content type is guessed when not given.',
  },
  {
    name: 'cost',
    type: '(usd: float, label: str | None = None) -> None',
    about: 'Adds US dollars to what this run has cost, for example the price of a call to a paid service.',
  },
  {
    name: 'step',
    type: '(name: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T',
    about:
      'Calls fn once and records what it returns; when the code runs again, the record answers instead. Up to 64 KB of JSON. Of an async function it is to be awaited.',
  },
  {
    name: 'sleep',
    type: '(seconds: float | None = None, *, until: datetime | None = None) -> None',
    about: 'Waits: in the process for less than 2 seconds, without one for anything longer, up to 366 days.',
  },
  {
    name: 'approve',
    type: '(title: str, message: str | None = None, data: Any = None, form: Iterable[dict[str, Any] | str] | None = None, expires_in: float | timedelta | None = None) -> Decision',
    about:
      'Waits for a person, without a process. data is shown with the question; form lists items like inputs, which whoever approves fills in. The run ends as rejected when somebody rejects it or nobody decides in time.',
  },
  {
    name: 'call',
    type: '(worker_id: str, inputs: Mapping[str, Any] | None = None) -> Any',
    about:
      'Runs another worker of the workspace, waits without a process, and returns its output. Raises CallFailed if that run did not complete.',
  },
  {
    name: 'model',
    type: '(messages: str | Iterable[str | Mapping[str, Any]], *, system: str | None = None, model: str | None = None, schema: Mapping[str, Any] | None = None, tools: Iterable[Mapping[str, Any]] | None = None, max_output_tokens: int | None = None, timeout: float = 120, stream: bool = False) -> ModelAnswer',
    about:
      'Asks a language model of the operator’s and records its answer; with a JSON Schema, its output fits that. Messages may hold images and files. With stream, those who watch the run read along. Raises ModelError.',
  },
];

export const GANTRY_NAMES: GantryName[] = [
  { name: 'context', type: 'Context', about: 'The context of the run that is going on.' },
  { name: 'Context', type: 'class', about: 'The type of context, for annotations.' },
  { name: 'Connection', type: 'class', about: 'A declared connection: token, base_url, hosts, scopes, account_label.' },
  { name: 'CallFailed', type: 'class', about: 'A called run that did not complete: worker_id, status, error.' },
  {
    name: 'StepFailed',
    type: 'class',
    about: 'A step whose failure the code caught before the run waited, and whose exception can’t be made again.',
  },
  {
    name: 'ToolError',
    type: 'class',
    about: 'A tool that was not called, that says it failed, or whose outcome nobody knows: connection, tool, code.',
  },
  {
    name: 'ModelError',
    type: 'class',
    about: 'A model that was not asked, or that gave no answer that could be used: code.',
  },
  { name: 'ModelAnswer', type: 'class', about: 'What context.model() returns: text, output, tool_calls, usage.' },
  { name: 'Decision', type: 'class', about: 'What context.approve() returns: approved_by and data.' },
];
