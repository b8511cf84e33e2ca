// The API as its own description says it; everything is shown as text, and nothing comes from another origin.

/** @param {string} tag @param {Record<string, string>} [attributes] @param {...(Node | string)} children */
function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

/** @param {any} value */
const shown = (value) => make("pre", { tabindex: "0" }, JSON.stringify(value, null, 2));

/** The schema with what it refers to. @param {any} schema @param {any} description @param {number} depth @returns {any} */
function resolved(schema, description, depth = 0) {
  if (Array.isArray(schema)) return schema.map((each) => resolved(each, description, depth));
  if (schema === null || typeof schema !== "object") return schema;
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").pop();
    return depth > 4 ? name : resolved(description.components.schemas[name], description, depth + 1);
  }
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => key !== "examples").map(([key, value]) => [key, resolved(value, description, depth)]),
  );
}

/** @param {string} method @param {string} path @param {string} body */
function curl(method, path, body) {
  const start = `curl -s ${method === "GET" ? "" : `-X ${method} `}${location.origin}${path}`;
  return body ? `${start} -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'` : start;
}

/** A form that sends the request. @param {string} method @param {string} path @param {any[]} examples */
function trial(method, path, examples) {
  const text = /** @type {HTMLTextAreaElement} */ (make("textarea", { "aria-label": `Body of ${method} ${path}`, spellcheck: "false" }));
  text.value = examples.length ? JSON.stringify(examples[0], null, 2) : "";
  const line = make("pre", { tabindex: "0" });
  const answer = make("div", { "aria-live": "polite" });
  const update = () => (line.textContent = curl(method, path, examples.length ? text.value : ""));
  const send = make("button", { type: "button" }, "Send");
  send.addEventListener("click", async () => {
    const session = await (await fetch("/v1/session")).json();
    const headers = /** @type {Record<string, string>} */ (session.csrf ? { "X-CSRF-Token": session.csrf } : {});
    if (examples.length) headers["Content-Type"] = "application/json";
    const got = await fetch(path, { method, headers, body: examples.length ? text.value : undefined });
    const body = await got.text();
    const isJson = (got.headers.get("content-type") || "").includes("json");
    answer.replaceChildren(make("h3", {}, `Answer: ${got.status}`), isJson ? shown(JSON.parse(body)) : make("pre", {}, body));
  });
  text.addEventListener("input", update);
  update();
  const parts = [make("h3", {}, "As curl"), line, send, answer];
  return examples.length ? [make("h3", {}, "Body"), text, ...parts] : parts;
}

/** @param {string} method @param {string} path @param {any} operation @param {any} description */
function operationOf(method, path, operation, description) {
  const schema = operation.requestBody?.content["application/json"].schema;
  const name = schema?.$ref.split("/").pop();
  const examples = name ? description.components.schemas[name].examples || [] : [];
  const inside = make("div", { class: "inside" }, ...trial(method.toUpperCase(), path, examples));
  if (schema) inside.append(make("details", {}, make("summary", {}, "Schema of the body"), shown(resolved(schema, description))));
  for (const [status, answer] of Object.entries(operation.responses)) {
    const content = Object.values(answer.content || {})[0];
    const about = make("summary", {}, `${status}: ${answer.description}`);
    inside.append(make("details", {}, about, shown(resolved(content?.schema ?? {}, description))));
  }
  const title = make("summary", {}, make("span", { class: "method" }, method.toUpperCase()), make("code", {}, path), ` ${operation.summary}`);
  return make("details", { id: operation.operationId }, title, inside);
}

async function main() {
  const description = await (await fetch("/openapi.json")).json();
  const groups = /** @type {Record<string, HTMLElement>} */ ({});
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.tags[0];
      groups[group] ??= make("section", {}, make("h2", {}, group));
      groups[group].append(operationOf(method, path, operation, description));
    }
  }
  /** @type {HTMLElement} */ (document.getElementById("about")).textContent = `${description.info.summary} ${description.info.description}`;
  /** @type {HTMLElement} */ (document.getElementById("paths")).replaceChildren(...Object.values(groups));
}

main();
