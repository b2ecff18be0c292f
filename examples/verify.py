#!/usr/bin/env python3
"""Checks a signed statement about a commit without Belay: verify.py ENVELOPE KEYS REPOSITORY [LOG.jsonl]

Needs Python's standard library, openssl 3 and git. Exits with 0: it holds, 1: it does not, 2: it cannot be said.
"""
import base64, hashlib, json, os, subprocess, sys, tempfile

ALGORITHM, PREDICATE = b"belay-log-1\0", "urn:belay:attestation:agent-change:v1"
FIELDS = "session seq time source action args message call epoch n".split()

def refute(why, code=1, verdict="It does not hold: "):
    print(verdict + why, file=sys.stderr)
    sys.exit(code)
def unknown(why):
    refute(why, 2, "It cannot be said whether it holds: ")
def sha256(data):
    return hashlib.sha256(data).digest()
def unbase64(text):
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_").rstrip("=") + "==")

def is_signed(key, message, signature):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("key", "message", "signature")]
        spki = bytes.fromhex("302a300506032b6570032100") + unbase64(key["x"])  # the fixed beginning of Ed25519
        for path, data in zip(paths, (spki, message, signature)):
            with open(path, "wb") as file:
                file.write(data)
        command = "openssl pkeyutl -verify -pubin -keyform DER -rawin -inkey %s -in %s -sigfile %s"
        return subprocess.run((command % tuple(paths)).split(), capture_output=True).returncode == 0

def verified_statement(envelope, keys):
    kind, payload = envelope["payloadType"].encode(), unbase64(envelope["payload"])
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    signatures = [unbase64(one["sig"]) for one in envelope["signatures"]]
    signers = [key for key in keys if any(is_signed(key, message, one) for one in signatures)]
    named = {one.get("keyid") for one in envelope["signatures"]}
    if not signers and any(key["kid"] in named for key in keys):
        refute("The signature is not of this text.")
    if not signers:
        unknown("It is signed by a key that you do not trust.")
    if all(key["revoked"] for key in signers):
        refute("The key that signed this was revoked.")
    statement = json.loads(payload)
    if (kind, statement["predicateType"]) != (b"application/vnd.in-toto+json", PREDICATE):
        unknown("This is a statement of another kind.")
    said = {name: value for name, value in statement["predicate"].items() if name != "record"}
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    if sha256(canonical).hex() != statement["predicate"]["record"]["sha256"]:
        refute("The digest of the record is not the one that the statement gives.")
    return statement

def check_commit(statement, repository):
    def git(*arguments):
        command = ("git", "--no-replace-objects", "-C", repository) + arguments
        run = subprocess.run(command, capture_output=True)
        return run.stdout if run.returncode == 0 else unknown("The commit is not in the repository.")

    change, commit = statement["predicate"]["change"], statement["subject"][0]["digest"]["gitCommit"]
    tree, parent = change["tree"]["gitTree"], change["parent"]["gitCommit"]
    subject = statement["subject"][1]["digest"]["gitTree"]
    if git("log", "-1", "--format=%T %P", commit).decode().split() != [tree, parent] or subject != tree:
        refute("The commit has another tree or parent than the statement says.")
    listed = git("diff-tree", "-r", "-z", "--no-abbrev", "--no-renames", parent, commit)
    if sha256(listed).hex() != change["changes"]["sha256"]:
        refute("The commit changes other files than the statement says.")
    named = git("log", "-1", "--format=%(trailers:key=Belay-Evidence,valueonly)", commit).decode().split()
    if named[-1:] != ["sha256:" + statement["predicate"]["record"]["sha256"]]:
        refute("The commit names another record than the one in the statement.")
    return commit

def netstrings(values):
    texts = [None if value is None else str(value).encode() for value in values]
    return b"".join(b"-," if text is None else b"%d:%s," % (len(text), text) for text in texts)

def check_log(predicate, file):
    session, log = predicate["session"], predicate["log"]
    digest, seq = sha256(ALGORITHM + netstrings([session["id"], session["created"]])), 0
    next(file, None)  # The first line repeats the end of the log.
    for line in file:
        if seq == log["seq"]:
            break
        record, seq = json.loads(line), seq + 1
        hidden = bytes.fromhex(record["content"]) if "content" in record else None
        digest = sha256(ALGORITHM + digest + (hidden or sha256(netstrings([record.get(field) for field in FIELDS]))))
        if record["seq"] != seq or record["digest"] != digest.hex():
            refute("Record %d of the log was changed: from there on nothing holds." % seq)
    if seq < log["seq"]:
        refute("The log ends at %d; the statement saw %d." % (seq, log["seq"]))
    if digest.hex() != log["head"]:
        refute("The log is not the one that the statement saw.")

if not 4 <= len(sys.argv) <= 5:
    unknown("Give an envelope, keys, a repository, and a log if there is one.")
with open(sys.argv[1]) as envelope_file, open(sys.argv[2]) as keys_file:
    statement = verified_statement(json.load(envelope_file), json.load(keys_file)["keys"])
print("The statement about the commit %s holds." % check_commit(statement, sys.argv[3]))
if len(sys.argv) == 5:
    with open(sys.argv[4], encoding="utf-8", newline="\n") as log_file:
        check_log(statement["predicate"], log_file)
    print("The log is the one that the statement saw.")
