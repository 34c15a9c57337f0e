// Opens documents in the YAML language server, as an editor does. Reads a question from its
// standard input, where lines and characters count from 0 and no path is there twice:
//   {documents: [{path, text, asked: [{method, line, character}]}]}
// and prints for each document what the protocol says of it:
//   [{diagnostics: [DIAGNOSTIC], answers: [ANSWER]}]
"use strict";

const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-jsonrpc/node");

// Nothing is fetched: the schema is the one that the document names.
const SETTINGS = {
  yaml: {
    validate: true,
    hover: true,
    completion: true,
    schemaStore: { enable: false },
    kubernetesCRDStore: { enable: false },
  },
};

async function main() {
  const { documents } = JSON.parse(readFileSync(0, "utf8"));
  const program = require.resolve("yaml-language-server/bin/yaml-language-server");
  const server = spawn(process.execPath, [program, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const waiting = new Map();
  connection.onRequest("client/registerCapability", () => null);
  connection.onRequest("workspace/configuration", ({ items }) =>
    items.map(({ section }) => SETTINGS[section] ?? null),
  );
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) =>
    waiting.get(uri)?.(diagnostics),
  );
  connection.listen();
  server.once("exit", (code) => process.exit(code || 1));
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
      textDocument: {
        hover: { contentFormat: ["markdown", "plaintext"] },
        completion: { completionItem: { documentationFormat: ["markdown", "plaintext"] } },
      },
    },
  });
  const configured = new Promise((resolve) => connection.onNotification("yaml/schema/store/initialized", resolve));
  await connection.sendNotification("yaml/supportSchemaSelection", {});
  await connection.sendNotification("initialized", {});
  await configured;
  const told = [];
  const seen = new Set();
  for (const { path, text, asked } of documents) {
    const uri = pathToFileURL(path).href;
    if (seen.has(uri)) {
      throw new Error(`${path} is there twice: what is said of it could be of either`);
    }
    seen.add(uri);
    const diagnosed = new Promise((resolve) => waiting.set(uri, resolve));
    const textDocument = { uri, languageId: "yaml", version: 1, text };
    await connection.sendNotification("textDocument/didOpen", { textDocument });
    const diagnostics = await diagnosed;
    const answers = [];
    for (const { method, line, character } of asked) {
      const position = { line, character };
      answers.push(await connection.sendRequest(method, { textDocument: { uri }, position }));
    }
    told.push({ diagnostics, answers });
    waiting.delete(uri);
    await connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
  }
  server.removeAllListeners("exit");
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  process.stdout.write(JSON.stringify(told), () => process.exit(0));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
