// Reads {skeleton: {NAME: TEXT}, values: {KEY: VALUE}} from its standard input and prints Backstage's
// schema of a template, and the skeleton as Backstage's engine renders it. Of Backstage's package only the schema is
// read, so package-lock.json leaves out the 130 packages that the rest of it needs.
"use strict";

const { readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const nunjucks = require("nunjucks");

const { skeleton, values } = JSON.parse(readFileSync(0, "utf8"));
const home = dirname(require.resolve("@backstage/plugin-scaffolder-common/package.json"));
const schema = require(join(home, "dist/Template.v1beta3.schema.json.cjs.js")).default;
// The scaffolder leaves '{{ }}' alone, for files that are templates of something else.
const engine = new nunjucks.Environment([], {
  autoescape: false,
  tags: { variableStart: "${{", variableEnd: "}}" },
});
const files = {};
for (const [name, text] of Object.entries(skeleton)) {
  files[name] = engine.renderString(text, { values });
}
process.stdout.write(JSON.stringify({ schema, files }));
